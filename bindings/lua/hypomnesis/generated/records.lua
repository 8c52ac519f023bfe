-- SPDX-License-Identifier: MIT OR Apache-2.0
-- Written by bindings/generate from include/hypomnesis.h.
-- `text` makes a string of a char array, `wide` a number or a cdata of a 64-bit integer.
return function(has, text, wide)
  local copy = {}

  function copy.hmn_error(record)
    return {
      status = record.status,
      notes = record.notes,
      backend = record.backend,
      native_domain = record.native_domain,
      native_code = record.native_code,
      message = text(record.message),
    }
  end

  function copy.hmn_backend_info(record)
    local present = record.present
    return {
      notes = record.notes,
      backend = record.backend,
      state = record.state,
      status = record.status,
      native_domain = record.native_domain,
      native_code = record.native_code,
      version = has(present, 1) and text(record.version) or nil,
      message = text(record.message),
    }
  end

  function copy.hmn_process_memory(record)
    local present = record.present
    return {
      notes = record.notes,
      backend = record.backend,
      pid = record.pid,
      resident_bytes = has(present, 1) and wide(record.resident_bytes) or nil,
      peak_resident_bytes = has(present, 2) and wide(record.peak_resident_bytes) or nil,
      virtual_bytes = has(present, 4) and wide(record.virtual_bytes) or nil,
      swap_bytes = has(present, 8) and wide(record.swap_bytes) or nil,
      proportional_bytes = has(present, 16) and wide(record.proportional_bytes) or nil,
      private_bytes = has(present, 32) and wide(record.private_bytes) or nil,
      committed_bytes = has(present, 64) and wide(record.committed_bytes) or nil,
      footprint_bytes = has(present, 128) and wide(record.footprint_bytes) or nil,
    }
  end

  function copy.hmn_system_memory(record)
    local present = record.present
    return {
      notes = record.notes,
      backend = record.backend,
      total_bytes = has(present, 1) and wide(record.total_bytes) or nil,
      available_bytes = has(present, 2) and wide(record.available_bytes) or nil,
      swap_total_bytes = has(present, 4) and wide(record.swap_total_bytes) or nil,
      swap_free_bytes = has(present, 8) and wide(record.swap_free_bytes) or nil,
      limit_bytes = has(present, 16) and wide(record.limit_bytes) or nil,
      limit_used_bytes = has(present, 32) and wide(record.limit_used_bytes) or nil,
      commit_limit_bytes = has(present, 64) and wide(record.commit_limit_bytes) or nil,
      committed_bytes = has(present, 128) and wide(record.committed_bytes) or nil,
    }
  end

  function copy.hmn_device(record)
    local present = record.present
    return {
      notes = record.notes,
      backend = record.backend,
      index = record.index,
      kind = record.kind,
      state = record.state,
      vendor = record.vendor,
      memory_kind = record.memory_kind,
      parent_index = has(present, 16) and record.parent_index or nil,
      driver_index = has(present, 1024) and record.driver_index or nil,
      pci_device = has(present, 32) and record.pci_device or nil,
      pci_subsystem = has(present, 64) and record.pci_subsystem or nil,
      render_minor = has(present, 128) and record.render_minor or nil,
      numa_node = has(present, 256) and record.numa_node or nil,
      gpu_instance = has(present, 512) and record.gpu_instance or nil,
      compute_instance = has(present, 512) and record.compute_instance or nil,
      cuda_version = has(present, 4096) and record.cuda_version or nil,
      os_id = has(present, 2048) and wide(record.os_id) or nil,
      name = has(present, 1) and text(record.name) or nil,
      uuid = has(present, 2) and text(record.uuid) or nil,
      pci_bus_id = has(present, 4) and text(record.pci_bus_id) or nil,
      driver_version = has(present, 8) and text(record.driver_version) or nil,
    }
  end

  function copy.hmn_pool(record)
    local present = record.present
    return {
      notes = record.notes,
      backend = record.backend,
      device_index = record.device_index,
      kind = record.kind,
      accounting = record.accounting,
      is_main = record.is_main,
      total_bytes = has(present, 1) and wide(record.total_bytes) or nil,
      free_bytes = has(present, 2) and wide(record.free_bytes) or nil,
      used_bytes = has(present, 4) and wide(record.used_bytes) or nil,
      reserved_bytes = has(present, 8) and wide(record.reserved_bytes) or nil,
      usable_bytes = has(present, 16) and wide(record.usable_bytes) or nil,
      budget_bytes = has(present, 32) and wide(record.budget_bytes) or nil,
      unattributed_bytes = has(present, 64) and wide(record.unattributed_bytes) or nil,
      age_ns = wide(record.age_ns),
    }
  end

  function copy.hmn_telemetry(record)
    local present = record.present
    return {
      notes = record.notes,
      backend = record.backend,
      device_index = record.device_index,
      core_clock_mhz = has(present, 1024) and record.core_clock_mhz or nil,
      memory_clock_mhz = has(present, 2048) and record.memory_clock_mhz or nil,
      fan_percent = has(present, 4096) and record.fan_percent or nil,
      fan_rpm = has(present, 8192) and record.fan_rpm or nil,
      pcie_generation = has(present, 16384) and record.pcie_generation or nil,
      pcie_width = has(present, 32768) and record.pcie_width or nil,
      p_state = has(present, 524288) and record.p_state or nil,
      throttle = has(present, 262144) and record.throttle or nil,
      backends = wide(record.backends),
      gpu_busy_percent = has(present, 1) and record.gpu_busy_percent or nil,
      memory_busy_percent = has(present, 2) and record.memory_busy_percent or nil,
      encoder_busy_percent = has(present, 4) and record.encoder_busy_percent or nil,
      decoder_busy_percent = has(present, 8) and record.decoder_busy_percent or nil,
      temperature_celsius = has(present, 16) and record.temperature_celsius or nil,
      hotspot_celsius = has(present, 32) and record.hotspot_celsius or nil,
      memory_celsius = has(present, 64) and record.memory_celsius or nil,
      power_watts = has(present, 128) and record.power_watts or nil,
      power_limit_watts = has(present, 256) and record.power_limit_watts or nil,
      energy_joules = has(present, 512) and record.energy_joules or nil,
      pcie_rx_bytes = has(present, 65536) and wide(record.pcie_rx_bytes) or nil,
      pcie_tx_bytes = has(present, 131072) and wide(record.pcie_tx_bytes) or nil,
      window_ns = has(present, 1048576) and wide(record.window_ns) or nil,
      age_ns = wide(record.age_ns),
    }
  end

  function copy.hmn_usage(record)
    local present = record.present
    return {
      notes = record.notes,
      backend = record.backend,
      pid = record.pid,
      device_index = record.device_index,
      kinds = has(present, 32768) and record.kinds or nil,
      accounting = record.accounting,
      name_state = record.name_state,
      uid = has(present, 8192) and record.uid or nil,
      gpu_instance = has(present, 16384) and record.gpu_instance or nil,
      compute_instance = has(present, 16384) and record.compute_instance or nil,
      start_unix_ns = has(present, 4096) and wide(record.start_unix_ns) or nil,
      used_bytes = has(present, 1) and wide(record.used_bytes) or nil,
      resident_bytes = has(present, 2) and wide(record.resident_bytes) or nil,
      committed_bytes = has(present, 4) and wide(record.committed_bytes) or nil,
      allocated_bytes = has(present, 8) and wide(record.allocated_bytes) or nil,
      shared_bytes = has(present, 16) and wide(record.shared_bytes) or nil,
      purgeable_bytes = has(present, 32) and wide(record.purgeable_bytes) or nil,
      evicted_bytes = has(present, 64) and wide(record.evicted_bytes) or nil,
      host_pool_bytes = has(present, 128) and wide(record.host_pool_bytes) or nil,
      host_resident_bytes = has(present, 256) and wide(record.host_resident_bytes) or nil,
      budget_bytes = has(present, 512) and wide(record.budget_bytes) or nil,
      busy_ns = has(present, 1024) and wide(record.busy_ns) or nil,
      busy_percent = has(present, 2048) and record.busy_percent or nil,
      window_ns = has(present, 2048) and wide(record.window_ns) or nil,
      age_ns = wide(record.age_ns),
    }
  end

  function copy.hmn_snapshot_info(record)
    return {
      notes = record.notes,
      collect = record.collect,
      device_count = record.device_count,
      pool_count = record.pool_count,
      usage_count = record.usage_count,
      diagnostic_count = record.diagnostic_count,
      unreadable_process_count = record.unreadable_process_count,
      unix_time_ns = wide(record.unix_time_ns),
      monotonic_ns = wide(record.monotonic_ns),
      duration_ns = wide(record.duration_ns),
    }
  end

  function copy.hmn_diagnostic(record)
    local present = record.present
    return {
      notes = record.notes,
      backend = record.backend,
      status = record.status,
      native_domain = record.native_domain,
      native_code = record.native_code,
      subject = record.subject,
      field = has(present, 4) and record.field or nil,
      device_index = has(present, 1) and record.device_index or nil,
      pid = has(present, 2) and record.pid or nil,
      count = record.count,
      duration_ns = has(present, 8) and wide(record.duration_ns) or nil,
      message = text(record.message),
    }
  end

  function copy.hmn_delta(record)
    local present = record.present
    return {
      notes = record.notes,
      backend = record.backend,
      device_index = record.device_index,
      scope = record.scope,
      accounting = record.accounting,
      memory_bytes = has(present, 1) and wide(record.memory_bytes) or nil,
      device_bytes = has(present, 2) and wide(record.device_bytes) or nil,
      elapsed_ns = wide(record.elapsed_ns),
      energy_joules = has(present, 4) and record.energy_joules or nil,
    }
  end

  return copy
end
