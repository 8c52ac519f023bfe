// SPDX-License-Identifier: MIT OR Apache-2.0
#include "fields.hpp"

namespace fake_smi {
namespace {

struct Alias {
  std::string_view spelling, canonical;
};

constexpr Alias gpu_aliases[] = {
    {"gpu_name", "name"},
    {"gpu_uuid", "uuid"},
    {"gpu_serial", "serial"},
    {"gpu_bus_id", "pci.bus_id"},
    {"clocks.gr", "clocks.current.graphics"},
    {"clocks.sm", "clocks.current.sm"},
    {"clocks.mem", "clocks.current.memory"},
    {"clocks.video", "clocks.current.video"},
    {"clocks.max.gr", "clocks.max.graphics"},
    {"clocks.max.mem", "clocks.max.memory"},
};

constexpr Alias app_aliases[] = {
    {"name", "process_name"},
    {"used_memory", "used_gpu_memory"},
};

struct UnitRule {
  std::string_view prefix, unit;
};

constexpr UnitRule units[] = {
    {"clocks_event_reasons_counters.", "us"},
    {"clocks_throttle_reasons_counters.", "us"},
    {"clocks_", ""},
    {"clocks.", "MHz"},
    {"memory.", "MiB"},
    {"protected_memory.", "MiB"},
    {"used_gpu_memory", "MiB"},
    {"utilization.", "%"},
    {"fan.speed", "%"},
    {"power.management", ""},
    {"power.", "W"},
    {"enforced.power.limit", "W"},
    {"module.", "W"},
};

template <std::size_t N>
std::string_view find_canonical(const Alias (&aliases)[N], std::string_view name) {
  for (const auto& alias : aliases)
    if (alias.spelling == name) return alias.canonical;
  return name;
}

}  // namespace

std::string_view canonical_gpu_field(std::string_view name) {
  return find_canonical(gpu_aliases, name);
}
std::string_view canonical_app_field(std::string_view name) {
  return find_canonical(app_aliases, name);
}

std::string_view column_unit(std::string_view field) {
  for (const auto& rule : units)
    if (field.starts_with(rule.prefix)) return rule.unit;
  return "";
}

const std::vector<std::string>& gpu_fields() {
  static const std::vector<std::string> names = {
      "timestamp",
      "driver_version",
      "kmd_version",
      "count",
      "name",
      "serial",
      "uuid",
      "index",
      "pci.bus_id",
      "pci.domain",
      "pci.bus",
      "pci.device",
      "pci.device_id",
      "pci.sub_device_id",
      "pcie.link.gen.current",
      "pcie.link.gen.gpucurrent",
      "pcie.link.gen.max",
      "pcie.link.gen.gpumax",
      "pcie.link.gen.hostmax",
      "pcie.link.width.current",
      "pcie.link.width.max",
      "display_mode",
      "display_active",
      "display_attached",
      "persistence_mode",
      "addressing_mode",
      "accounting.mode",
      "driver_model.current",
      "driver_model.pending",
      "vbios_version",
      "fan.speed",
      "pstate",
      "clocks_event_reasons.supported",
      "clocks_event_reasons.active",
      "clocks_event_reasons.gpu_idle",
      "clocks_event_reasons.applications_clocks_setting",
      "clocks_event_reasons.sw_power_cap",
      "clocks_event_reasons.hw_slowdown",
      "clocks_event_reasons.hw_thermal_slowdown",
      "clocks_event_reasons.hw_power_brake_slowdown",
      "clocks_event_reasons.sw_thermal_slowdown",
      "clocks_event_reasons.sync_boost",
      "clocks_throttle_reasons.active",
      "clocks_event_reasons_counters.sw_power_cap",
      "memory.total",
      "memory.reserved",
      "memory.used",
      "memory.free",
      "compute_mode",
      "compute_cap",
      "utilization.gpu",
      "utilization.memory",
      "utilization.encoder",
      "utilization.decoder",
      "utilization.jpeg",
      "utilization.ofa",
      "encoder.stats.sessionCount",
      "encoder.stats.averageFps",
      "encoder.stats.averageLatency",
      "ecc.mode.current",
      "ecc.mode.pending",
      "ecc.errors.corrected.volatile.total",
      "ecc.errors.corrected.aggregate.total",
      "ecc.errors.uncorrected.volatile.total",
      "ecc.errors.uncorrected.aggregate.total",
      "retired_pages.pending",
      "remapped_rows.correctable",
      "remapped_rows.uncorrectable",
      "remapped_rows.pending",
      "remapped_rows.failure",
      "temperature.gpu",
      "temperature.gpu.tlimit",
      "temperature.memory",
      "power.management",
      "power.draw",
      "power.draw.average",
      "power.draw.instant",
      "power.limit",
      "enforced.power.limit",
      "power.default_limit",
      "power.min_limit",
      "power.max_limit",
      "clocks.current.graphics",
      "clocks.current.sm",
      "clocks.current.memory",
      "clocks.current.video",
      "clocks.max.graphics",
      "clocks.max.sm",
      "clocks.max.memory",
      "mig.mode.current",
      "mig.mode.pending",
      "gsp.mode.current",
      "c2c.mode",
      "protected_memory.total",
      "protected_memory.used",
      "protected_memory.free",
  };
  return names;
}

const std::vector<std::string>& app_fields() {
  static const std::vector<std::string> names = {
      "timestamp", "gpu_name", "gpu_bus_id",   "gpu_serial",
      "gpu_uuid",  "pid",      "process_name", "used_gpu_memory",
  };
  return names;
}

}  // namespace fake_smi
