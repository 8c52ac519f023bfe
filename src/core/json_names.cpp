// SPDX-License-Identifier: MIT OR Apache-2.0
#include "core/json_names.hpp"

#include <array>
#include <cstddef>
#include <iterator>

#include "model/diagnostic.hpp"

namespace hmn {
namespace {

using names = json_name;

constexpr std::array notes_in_order = {
    names("stale"), names("lower_bound"), names("estimated"), names("truncated"),
    names("mixed"), names("foreign_pid"), names("partial"),   names("trace"),
};

constexpr std::array subjects_in_order = {
    names("memory"), names("system"),    names("devices"),   names("pools"),
    names("self"),   names("processes"), names("telemetry"), names("metrics"),
};

constexpr std::array usage_kinds_in_order = {names("compute"), names("graphics"), names("media")};

constexpr std::array throttles_in_order = {
    names("idle"),     names("power"),   names("thermal"),
    names("hardware"), names("setting"), names("other"),
};

constexpr std::array memory_fields = {
    names("resident_bytes"),       names("peak_resident_bytes"), names("virtual_bytes"),
    names("swap_bytes"),           names("proportional_bytes"),  names("private_bytes"),
    names("committed_bytes"),      names("footprint_bytes"),     names("peak_footprint_bytes"),
    names("peak_committed_bytes"),
};

constexpr std::array system_fields = {
    names("total_bytes"),        names("available_bytes"), names("swap_total_bytes"),
    names("swap_free_bytes"),    names("limit_bytes"),     names("limit_used_bytes"),
    names("commit_limit_bytes"), names("committed_bytes"), names("pressure"),
    names("stall_percent"),
};

constexpr std::array device_fields = {
    names("name"),         names("uuid"),         names("pci_bus_id"),    names("driver_version"),
    names("parent_index"), names("pci_device"),   names("pci_subsystem"), names("render_minor"),
    names("numa_node"),    names("gpu_instance"), names("driver_index"),  names("os_id"),
    names("cuda_version"),
};

constexpr std::array pool_fields = {
    names("total_bytes"),        names("free_bytes"),   names("used_bytes"),
    names("reserved_bytes"),     names("usable_bytes"), names("budget_bytes"),
    names("unattributed_bytes"),
};

constexpr std::array usage_fields = {
    names("used_bytes"),
    names("resident_bytes"),
    names("committed_bytes"),
    names("allocated_bytes"),
    names("shared_bytes"),
    names("purgeable_bytes"),
    names("evicted_bytes"),
    names("host_pool_bytes"),
    names("host_resident_bytes"),
    names("budget_bytes"),
    names("busy_ns"),
    names("busy_percent"),
    names("start_unix_ns"),
    names("uid"),
    names("gpu_instance"),
    names("kinds"),
    names("peak_used_bytes"),
};

constexpr std::array telemetry_fields = {
    names("gpu_busy_percent"),
    names("memory_busy_percent"),
    names("encoder_busy_percent"),
    names("decoder_busy_percent"),
    names("temperature_celsius"),
    names("hotspot_celsius"),
    names("memory_celsius"),
    names("power_watts"),
    names("power_limit_watts"),
    names("energy_joules"),
    names("core_clock_mhz"),
    names("memory_clock_mhz"),
    names("fan_percent"),
    names("fan_rpm"),
    names("pcie_generation"),
    names("pcie_width"),
    names("pcie_rx_bytes"),
    names("pcie_tx_bytes"),
    names("throttle"),
    names("p_state"),
    names("window_ns"),
};

// By number.
constexpr short_text<11> source_names[] = {
    "none", "os",   "nvml", "nvidia-smi", "amdgpu", "kfd",   "rocm-smi", "i915",      "xe",
    "drm",  "dxgi", "pdh",  "metal",      "macmon", "tegra", "dmem",     "simulated", "amd-smi",
};
static_assert(std::size(source_names) == static_cast<std::size_t>(source::amd_smi) + 1);

// By number, without its sign.
constexpr short_text<20> status_names[] = {
    "HMN_OK",
    "HMN_E_ARGUMENT",
    "HMN_E_STRUCT_SIZE",
    "HMN_E_UNKNOWN_FLAG",
    "HMN_E_RANGE",
    "HMN_E_NO_MEMORY",
    "HMN_E_UNSUPPORTED",
    "HMN_E_NO_SOURCE",
    "HMN_E_NO_DEVICE",
    "HMN_E_NO_PROCESS",
    "HMN_E_PERMISSION",
    "HMN_E_TIMEOUT",
    "HMN_E_DEVICE_LOST",
    "HMN_E_BACKEND",
    "HMN_E_LIMIT",
    "HMN_E_OVERFLOW",
    "HMN_E_FORKED",
    "HMN_E_BUFFER",
    "HMN_E_EMPTY",
    "HMN_E_INTERNAL",
    "HMN_E_ASLEEP",
    "HMN_E_STATE",
};
static_assert(std::size(status_names) == 1 - static_cast<int>(status::state));

}  // namespace

std::string_view name_of(source s) noexcept {
  const auto number = static_cast<std::size_t>(s);
  return number < std::size(source_names) ? source_names[number].view() : "unknown";
}

std::string_view name_of(status s) noexcept {
  const auto number = static_cast<std::size_t>(-static_cast<std::int64_t>(s));
  return number < std::size(status_names) ? status_names[number].view() : "HMN_E_?";
}

std::string_view name_of(native_domain d) noexcept {
  switch (d) {
    case native_domain::none:
      return "none";
    case native_domain::error_number:
      return "errno";
    case native_domain::win32:
      return "win32";
    case native_domain::hresult:
      return "hresult";
    case native_domain::ntstatus:
      return "ntstatus";
    case native_domain::pdh:
      return "pdh";
    case native_domain::kern:
      return "kern";
    case native_domain::nvml:
      return "nvml";
    case native_domain::exit:
      return "exit";
  }
  return "unknown";
}

std::string_view name_of(device_kind k) noexcept {
  switch (k) {
    case device_kind::unknown:
      break;
    case device_kind::discrete:
      return "discrete";
    case device_kind::integrated:
      return "integrated";
    case device_kind::partition:
      return "partition";
    case device_kind::virtual_device:
      return "virtual";
  }
  return "unknown";
}

std::string_view name_of(memory_kind k) noexcept {
  switch (k) {
    case memory_kind::unknown:
      break;
    case memory_kind::dedicated:
      return "dedicated";
    case memory_kind::unified:
      return "unified";
    case memory_kind::coherent:
      return "coherent";
  }
  return "unknown";
}

std::string_view name_of(state s) noexcept {
  switch (s) {
    case state::unknown:
      break;
    case state::ready:
      return "ready";
    case state::asleep:
      return "asleep";
    case state::lost:
      return "lost";
    case state::unreadable:
      return "unreadable";
    case state::hung:
      return "hung";
    case state::absent:
      return "absent";
    case state::off:
      return "off";
  }
  return "unknown";
}

std::string_view name_of(pool_kind k) noexcept {
  switch (k) {
    case pool_kind::main:
      break;
    case pool_kind::vram:
      return "vram";
    case pool_kind::vram_visible:
      return "vram_visible";
    case pool_kind::host:
      return "host";
    case pool_kind::unified:
      return "unified";
    case pool_kind::stolen:
      return "stolen";
  }
  return "unknown";
}

std::string_view name_of(accounting a) noexcept {
  switch (a) {
    case accounting::none:
      return "none";
    case accounting::resident:
      return "resident";
    case accounting::committed:
      return "committed";
    case accounting::allocated:
      return "allocated";
  }
  return "unknown";
}

std::string_view name_of(memory_pressure p) noexcept {
  switch (p) {
    case memory_pressure::unknown:
      break;
    case memory_pressure::normal:
      return "normal";
    case memory_pressure::warning:
      return "warning";
    case memory_pressure::critical:
      return "critical";
  }
  return "unknown";
}

std::string_view name_of(name_state s) noexcept {
  switch (s) {
    case name_state::unknown:
      break;
    case name_state::resolved:
      return "resolved";
    case name_state::exited:
      return "exited";
    case name_state::protected_process:
      return "protected";
    case name_state::kernel:
      return "kernel";
  }
  return "unknown";
}

std::string_view vendor_name(std::uint32_t pci_vendor) noexcept {
  switch (pci_vendor) {
    case vendor::amd:
      return "amd";
    case vendor::nvidia:
      return "nvidia";
    case vendor::intel:
      return "intel";
    default:
      return "unknown";
  }
}

std::span<const json_name> note_names() noexcept {
  return notes_in_order;
}
std::span<const json_name> subject_names() noexcept {
  return subjects_in_order;
}
std::span<const json_name> usage_kind_names() noexcept {
  return usage_kinds_in_order;
}
std::span<const json_name> throttle_names() noexcept {
  return throttles_in_order;
}

std::span<const json_name> field_names(std::uint32_t subject_bit) noexcept {
  switch (subject_bit) {
    case subject::memory:
      return memory_fields;
    case subject::system:
      return system_fields;
    case subject::devices:
      return device_fields;
    case subject::pools:
      return pool_fields;
    case subject::self:
    case subject::processes:
      return usage_fields;
    case subject::telemetry:
      return telemetry_fields;
    default:
      return {};
  }
}

}  // namespace hmn
