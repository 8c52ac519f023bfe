-- SPDX-License-Identifier: MIT OR Apache-2.0
-- Written by bindings/generate from include/hypomnesis.h.
-- `text` makes a string of a char array, `unsigned` and `signed` what a number of 64 bits becomes, `seconds` a number
-- of nanoseconds.
return function(band, text, unsigned, signed, seconds)
  local copy = {}

  function copy.hmn_error(record)
    return {
      status = record.status,
      notes = record.notes,
      backend = record.backend,
      reason = record.reason,
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
      version = band(present, 1ULL) ~= 0 and text(record.version) or nil,
      message = text(record.message),
    }
  end

  function copy.hmn_process_memory(record)
    local present = record.present
    return {
      notes = record.notes,
      backend = record.backend,
      pid = record.pid,
      resident_bytes = band(present, 1ULL) ~= 0 and unsigned(record.resident_bytes) or nil,
      peak_resident_bytes = band(present, 2ULL) ~= 0 and unsigned(record.peak_resident_bytes) or nil,
      virtual_bytes = band(present, 4ULL) ~= 0 and unsigned(record.virtual_bytes) or nil,
      swap_bytes = band(present, 8ULL) ~= 0 and unsigned(record.swap_bytes) or nil,
      proportional_bytes = band(present, 16ULL) ~= 0 and unsigned(record.proportional_bytes) or nil,
      private_bytes = band(present, 32ULL) ~= 0 and unsigned(record.private_bytes) or nil,
      committed_bytes = band(present, 64ULL) ~= 0 and unsigned(record.committed_bytes) or nil,
      footprint_bytes = band(present, 128ULL) ~= 0 and unsigned(record.footprint_bytes) or nil,
      peak_footprint_bytes = band(present, 256ULL) ~= 0 and unsigned(record.peak_footprint_bytes) or nil,
      peak_committed_bytes = band(present, 512ULL) ~= 0 and unsigned(record.peak_committed_bytes) or nil,
      process_key = band(present, 1024ULL) ~= 0 and unsigned(record.process_key) or nil,
    }
  end

  function copy.hmn_system_memory(record)
    local present = record.present
    return {
      notes = record.notes,
      backend = record.backend,
      pressure = band(present, 256ULL) ~= 0 and record.pressure or nil,
      total_bytes = band(present, 1ULL) ~= 0 and unsigned(record.total_bytes) or nil,
      available_bytes = band(present, 2ULL) ~= 0 and unsigned(record.available_bytes) or nil,
      swap_total_bytes = band(present, 4ULL) ~= 0 and unsigned(record.swap_total_bytes) or nil,
      swap_free_bytes = band(present, 8ULL) ~= 0 and unsigned(record.swap_free_bytes) or nil,
      limit_bytes = band(present, 16ULL) ~= 0 and unsigned(record.limit_bytes) or nil,
      limit_used_bytes = band(present, 32ULL) ~= 0 and unsigned(record.limit_used_bytes) or nil,
      commit_limit_bytes = band(present, 64ULL) ~= 0 and unsigned(record.commit_limit_bytes) or nil,
      committed_bytes = band(present, 128ULL) ~= 0 and unsigned(record.committed_bytes) or nil,
      stall_percent = band(present, 512ULL) ~= 0 and record.stall_percent or nil,
      usable_bytes = band(present, 1024ULL) ~= 0 and unsigned(record.usable_bytes) or nil,
    }
  end

  function copy.hmn_device(record)
    local present = record.present
    return {
      notes = record.notes,
      backend = record.backend,
      index = record.index,
      device_class = record.device_class,
      form = record.form,
      state = record.state,
      vendor = record.vendor,
      memory_kind = record.memory_kind,
      parent_index = band(present, 16ULL) ~= 0 and record.parent_index or nil,
      driver_index = band(present, 1024ULL) ~= 0 and record.driver_index or nil,
      pci_device = band(present, 32ULL) ~= 0 and record.pci_device or nil,
      pci_subsystem = band(present, 64ULL) ~= 0 and record.pci_subsystem or nil,
      render_minor = band(present, 128ULL) ~= 0 and record.render_minor or nil,
      numa_node = band(present, 256ULL) ~= 0 and record.numa_node or nil,
      gpu_instance = band(present, 512ULL) ~= 0 and record.gpu_instance or nil,
      compute_instance = band(present, 512ULL) ~= 0 and record.compute_instance or nil,
      cuda_version_major = band(present, 4096ULL) ~= 0 and record.cuda_version_major or nil,
      cuda_version_minor = band(present, 4096ULL) ~= 0 and record.cuda_version_minor or nil,
      compute_capability_major = band(present, 8192ULL) ~= 0 and record.compute_capability_major or nil,
      compute_capability_minor = band(present, 8192ULL) ~= 0 and record.compute_capability_minor or nil,
      os_id = band(present, 2048ULL) ~= 0 and unsigned(record.os_id) or nil,
      age = seconds(record.age_ns),
      name = band(present, 1ULL) ~= 0 and text(record.name) or nil,
      uuid = band(present, 2ULL) ~= 0 and text(record.uuid) or nil,
      pci_bus_id = band(present, 4ULL) ~= 0 and text(record.pci_bus_id) or nil,
      driver_version = band(present, 8ULL) ~= 0 and text(record.driver_version) or nil,
      architecture = band(present, 16384ULL) ~= 0 and text(record.architecture) or nil,
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
      instance = record.instance,
      total_bytes = band(present, 1ULL) ~= 0 and unsigned(record.total_bytes) or nil,
      free_bytes = band(present, 2ULL) ~= 0 and unsigned(record.free_bytes) or nil,
      used_bytes = band(present, 4ULL) ~= 0 and unsigned(record.used_bytes) or nil,
      reserved_bytes = band(present, 8ULL) ~= 0 and unsigned(record.reserved_bytes) or nil,
      usable_bytes = band(present, 16ULL) ~= 0 and unsigned(record.usable_bytes) or nil,
      budget_bytes = band(present, 32ULL) ~= 0 and unsigned(record.budget_bytes) or nil,
      unattributed_bytes = band(present, 64ULL) ~= 0 and unsigned(record.unattributed_bytes) or nil,
      age = seconds(record.age_ns),
    }
  end

  function copy.hmn_telemetry(record)
    local present = record.present
    return {
      notes = record.notes,
      backend = record.backend,
      device_index = record.device_index,
      core_clock_mhz = band(present, 1024ULL) ~= 0 and record.core_clock_mhz or nil,
      memory_clock_mhz = band(present, 2048ULL) ~= 0 and record.memory_clock_mhz or nil,
      fan_percent = band(present, 4096ULL) ~= 0 and record.fan_percent or nil,
      fan_rpm = band(present, 8192ULL) ~= 0 and record.fan_rpm or nil,
      pcie_generation = band(present, 16384ULL) ~= 0 and record.pcie_generation or nil,
      pcie_width = band(present, 32768ULL) ~= 0 and record.pcie_width or nil,
      p_state = band(present, 524288ULL) ~= 0 and record.p_state or nil,
      throttle = band(present, 262144ULL) ~= 0 and record.throttle or nil,
      backends = unsigned(record.backends),
      gpu_busy_percent = band(present, 1ULL) ~= 0 and record.gpu_busy_percent or nil,
      memory_busy_percent = band(present, 2ULL) ~= 0 and record.memory_busy_percent or nil,
      encoder_busy_percent = band(present, 4ULL) ~= 0 and record.encoder_busy_percent or nil,
      decoder_busy_percent = band(present, 8ULL) ~= 0 and record.decoder_busy_percent or nil,
      temperature_celsius = band(present, 16ULL) ~= 0 and record.temperature_celsius or nil,
      hotspot_celsius = band(present, 32ULL) ~= 0 and record.hotspot_celsius or nil,
      memory_celsius = band(present, 64ULL) ~= 0 and record.memory_celsius or nil,
      power_watts = band(present, 128ULL) ~= 0 and record.power_watts or nil,
      power_limit_watts = band(present, 256ULL) ~= 0 and record.power_limit_watts or nil,
      energy_joules = band(present, 512ULL) ~= 0 and record.energy_joules or nil,
      pcie_rx_bytes = band(present, 65536ULL) ~= 0 and unsigned(record.pcie_rx_bytes) or nil,
      pcie_tx_bytes = band(present, 131072ULL) ~= 0 and unsigned(record.pcie_tx_bytes) or nil,
      window = band(present, 1048576ULL) ~= 0 and seconds(record.window_ns) or nil,
      age = seconds(record.age_ns),
    }
  end

  function copy.hmn_metric(record)
    local present = record.present
    return {
      notes = record.notes,
      backend = record.backend,
      device_index = record.device_index,
      id = record.id,
      instance = record.instance,
      value = band(present, 1ULL) ~= 0 and record.value or nil,
      count = band(present, 2ULL) ~= 0 and unsigned(record.count) or nil,
      window = band(present, 4ULL) ~= 0 and seconds(record.window_ns) or nil,
      age = seconds(record.age_ns),
    }
  end

  function copy.hmn_usage(record)
    local present = record.present
    return {
      notes = record.notes,
      backend = record.backend,
      pid = record.pid,
      device_index = record.device_index,
      kinds = band(present, 32768ULL) ~= 0 and record.kinds or nil,
      accounting = record.accounting,
      name_state = record.name_state,
      uid = band(present, 8192ULL) ~= 0 and record.uid or nil,
      gpu_instance = band(present, 16384ULL) ~= 0 and record.gpu_instance or nil,
      compute_instance = band(present, 16384ULL) ~= 0 and record.compute_instance or nil,
      start_time = band(present, 4096ULL) ~= 0 and seconds(record.start_unix_ns) or nil,
      used_bytes = band(present, 1ULL) ~= 0 and unsigned(record.used_bytes) or nil,
      resident_bytes = band(present, 2ULL) ~= 0 and unsigned(record.resident_bytes) or nil,
      committed_bytes = band(present, 4ULL) ~= 0 and unsigned(record.committed_bytes) or nil,
      allocated_bytes = band(present, 8ULL) ~= 0 and unsigned(record.allocated_bytes) or nil,
      shared_bytes = band(present, 16ULL) ~= 0 and unsigned(record.shared_bytes) or nil,
      purgeable_bytes = band(present, 32ULL) ~= 0 and unsigned(record.purgeable_bytes) or nil,
      evicted_bytes = band(present, 64ULL) ~= 0 and unsigned(record.evicted_bytes) or nil,
      host_pool_bytes = band(present, 128ULL) ~= 0 and unsigned(record.host_pool_bytes) or nil,
      host_resident_bytes = band(present, 256ULL) ~= 0 and unsigned(record.host_resident_bytes) or nil,
      budget_bytes = band(present, 512ULL) ~= 0 and unsigned(record.budget_bytes) or nil,
      busy = band(present, 1024ULL) ~= 0 and seconds(record.busy_ns) or nil,
      busy_percent = band(present, 2048ULL) ~= 0 and record.busy_percent or nil,
      window = band(present, 2048ULL) ~= 0 and seconds(record.window_ns) or nil,
      age = seconds(record.age_ns),
      peak_used_bytes = band(present, 65536ULL) ~= 0 and unsigned(record.peak_used_bytes) or nil,
      process_key = band(present, 131072ULL) ~= 0 and unsigned(record.process_key) or nil,
    }
  end

  copy.hmn_usage_texts = {
    {"name", 1},
    {"command", 3},
    {"container", 5},
  }

  function copy.hmn_group(record)
    local present = record.present
    return {
      notes = record.notes,
      backend = record.backend,
      device_index = record.device_index,
      used_bytes = band(present, 1ULL) ~= 0 and unsigned(record.used_bytes) or nil,
      limit_bytes = band(present, 2ULL) ~= 0 and unsigned(record.limit_bytes) or nil,
      age = seconds(record.age_ns),
    }
  end

  copy.hmn_group_texts = {
    {"name", 64},
  }

  function copy.hmn_snapshot_info(record)
    return {
      notes = record.notes,
      collect = record.collect,
      device_count = record.device_count,
      pool_count = record.pool_count,
      usage_count = record.usage_count,
      diagnostic_count = record.diagnostic_count,
      unreadable_process_count = record.unreadable_process_count,
      metric_count = record.metric_count,
      group_count = record.group_count,
      time = seconds(record.unix_time_ns),
      monotonic = seconds(record.monotonic_ns),
      duration = seconds(record.duration_ns),
      device_generation = unsigned(record.device_generation),
    }
  end

  function copy.hmn_diagnostic(record)
    local present = record.present
    return {
      notes = record.notes,
      backend = record.backend,
      reason = record.reason,
      status = record.status,
      native_domain = record.native_domain,
      native_code = record.native_code,
      subject = record.subject,
      device_index = band(present, 1ULL) ~= 0 and record.device_index or nil,
      pid = band(present, 2ULL) ~= 0 and record.pid or nil,
      pool = band(present, 32ULL) ~= 0 and record.pool or nil,
      pool_instance = band(present, 32ULL) ~= 0 and record.pool_instance or nil,
      metric = band(present, 8ULL) ~= 0 and record.metric or nil,
      metric_instance = band(present, 16ULL) ~= 0 and record.metric_instance or nil,
      field = band(present, 4ULL) ~= 0 and unsigned(record.field) or nil,
      duration = band(present, 64ULL) ~= 0 and seconds(record.duration_ns) or nil,
      count = record.count,
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
      memory_bytes = band(present, 1ULL) ~= 0 and signed(record.memory_bytes) or nil,
      device_bytes = band(present, 2ULL) ~= 0 and signed(record.device_bytes) or nil,
      elapsed = seconds(record.elapsed_ns),
      energy_joules = band(present, 4ULL) ~= 0 and record.energy_joules or nil,
    }
  end

  function copy.hmn_sampler_info(record)
    local present = record.present
    return {
      notes = record.notes,
      state = record.state,
      pending = record.pending,
      last_status = band(present, 1ULL) ~= 0 and record.last_status or nil,
      taken_count = unsigned(record.taken_count),
      dropped_count = unsigned(record.dropped_count),
      late_count = unsigned(record.late_count),
      failed_count = unsigned(record.failed_count),
      last_monotonic = band(present, 1ULL) ~= 0 and seconds(record.last_monotonic_ns) or nil,
    }
  end

  function copy.hmn_peak(record)
    local present = record.present
    return {
      notes = record.notes,
      backend = record.backend,
      device_index = record.device_index,
      pid = record.pid,
      accounting = record.accounting,
      used_bytes = band(present, 1ULL) ~= 0 and unsigned(record.used_bytes) or nil,
      host_pool_bytes = band(present, 2ULL) ~= 0 and unsigned(record.host_pool_bytes) or nil,
      host_resident_bytes = band(present, 4ULL) ~= 0 and unsigned(record.host_resident_bytes) or nil,
      used_monotonic = band(present, 1ULL) ~= 0 and seconds(record.used_monotonic_ns) or nil,
    }
  end

  function copy.hmn_tracker_info(record)
    local present = record.present
    return {
      notes = record.notes,
      device_index = band(present, 2ULL) ~= 0 and record.device_index or nil,
      tag_count = record.tag_count,
      limit_bytes = band(present, 1ULL) ~= 0 and unsigned(record.limit_bytes) or nil,
      allocated_bytes = unsigned(record.allocated_bytes),
      peak_bytes = unsigned(record.peak_bytes),
      refused_count = unsigned(record.refused_count),
    }
  end

  function copy.hmn_tag(record)
    return {
      notes = record.notes,
      number = record.number,
      allocated_bytes = unsigned(record.allocated_bytes),
      peak_bytes = unsigned(record.peak_bytes),
      name = text(record.name),
    }
  end

  function copy.hmn_spill_info(record)
    local present = record.present
    return {
      notes = record.notes,
      backend = record.backend,
      device_index = record.device_index,
      state = record.state,
      rules = record.rules,
      status = record.status,
      observation_count = unsigned(record.observation_count),
      skipped_count = unsigned(record.skipped_count),
      episode_count = unsigned(record.episode_count),
      first_episode = unsigned(record.first_episode),
      limit_bytes = band(present, 1ULL) ~= 0 and unsigned(record.limit_bytes) or nil,
      dedicated_bytes = band(present, 2ULL) ~= 0 and unsigned(record.dedicated_bytes) or nil,
      shared_bytes = band(present, 2ULL) ~= 0 and unsigned(record.shared_bytes) or nil,
      evicted_bytes = band(present, 4ULL) ~= 0 and unsigned(record.evicted_bytes) or nil,
      peak_dedicated_bytes = band(present, 2ULL) ~= 0 and unsigned(record.peak_dedicated_bytes) or nil,
      peak_shared_bytes = band(present, 2ULL) ~= 0 and unsigned(record.peak_shared_bytes) or nil,
      peak_evicted_bytes = band(present, 8ULL) ~= 0 and unsigned(record.peak_evicted_bytes) or nil,
      baseline_shared_bytes = band(present, 2ULL) ~= 0 and unsigned(record.baseline_shared_bytes) or nil,
      baseline_evicted_bytes = band(present, 8ULL) ~= 0 and unsigned(record.baseline_evicted_bytes) or nil,
      total = seconds(record.total_ns),
      longest = band(present, 16ULL) ~= 0 and seconds(record.longest_ns) or nil,
      longest_episode = band(present, 16ULL) ~= 0 and unsigned(record.longest_episode) or nil,
      first_label = band(present, 16ULL) ~= 0 and text(record.first_label) or nil,
      message = text(record.message),
    }
  end

  function copy.hmn_episode(record)
    local present = record.present
    return {
      notes = record.notes,
      rules = record.rules,
      number = unsigned(record.number),
      observation_count = unsigned(record.observation_count),
      peak_shared_bytes = unsigned(record.peak_shared_bytes),
      peak_evicted_bytes = band(present, 2ULL) ~= 0 and unsigned(record.peak_evicted_bytes) or nil,
      start_monotonic = seconds(record.start_monotonic_ns),
      end_monotonic = band(present, 1ULL) ~= 0 and seconds(record.end_monotonic_ns) or nil,
      duration = seconds(record.duration_ns),
      start_label = text(record.start_label),
      end_label = band(present, 1ULL) ~= 0 and text(record.end_label) or nil,
    }
  end

  return copy
end
