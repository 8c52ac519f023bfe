// SPDX-License-Identifier: MIT OR Apache-2.0
#include "cli/exporter/compat.hpp"

#include <fmt/format.h>

#include <span>
#include <string>

#include "cli/exporter/compat.def"
#include "cli/measure/snapshot_records.hpp"
#include "cli/system/environment.hpp"
#include "cli/system/suspend.hpp"
#include "cli/units.hpp"

namespace hmn::cli {
namespace {

using hypomnesis::metric_id;
using hypomnesis::snapshot_device;
using NumberOfDevice = std::optional<double> (*)(const snapshot_device& of);

struct Compatible {
  Family of;
  NumberOfDevice number;
  int places = 0;
};

template <auto Member>
std::optional<double> telemetry_number(const snapshot_device& of) {
  if (!of.telemetry || !((*of.telemetry).*Member)) return std::nullopt;
  return static_cast<double>(*((*of.telemetry).*Member));
}

template <auto Member>
std::optional<double> pool_number(const snapshot_device& of) {
  for (const auto& each : of.pools)
    if (each.is_main && each.*Member) return static_cast<double>(*(each.*Member));
  return std::nullopt;
}

template <auto Member>
std::optional<double> pool_mebibytes(const snapshot_device& of) {
  const auto bytes = pool_number<Member>(of);
  return bytes ? std::optional(*bytes / (1 << 20)) : std::nullopt;
}

template <metric_id Id, std::uint32_t Instance>
std::optional<double> metric_number(const snapshot_device& of) {
  for (const auto& each : of.metrics) {
    if (each.id != Id || each.instance != Instance) continue;
    if (each.value || !each.count) return each.value;
    return static_cast<double>(*each.count);
  }
  return std::nullopt;
}

std::optional<double> sm_clock_number(const snapshot_device& of) {
  const auto found = metric_number<metric_id::clock_mhz, HMN_CLOCK_SM>(of);
  return found ? found : telemetry_number<&hypomnesis::telemetry::core_clock_mhz>(of);
}

std::optional<double> index_number(const snapshot_device& of) {
  return of.device.driver_index.value_or(of.device.index);
}

namespace compat_families {
#define HMN_FAMILY(id, name, kind, unit, labels, help, source) \
  constexpr Family id{name, FamilyKind::kind, help};
HMN_DCGM_FAMILIES(HMN_FAMILY)
HMN_NVIDIA_SMI_FAMILIES(HMN_FAMILY)
#undef HMN_FAMILY
}  // namespace compat_families

using hypomnesis::pool;
using hypomnesis::telemetry;

constexpr Compatible of_dcgm[] = {
    {compat_families::sm_clock, sm_clock_number},
    {compat_families::mem_clock, telemetry_number<&telemetry::memory_clock_mhz>},
    {compat_families::memory_temp, telemetry_number<&telemetry::memory_celsius>},
    {compat_families::gpu_temp, telemetry_number<&telemetry::temperature_celsius>},
    {compat_families::power_usage, telemetry_number<&telemetry::power_watts>},
    {compat_families::energy_consumption, telemetry_number<&telemetry::energy_joules>,
     to_millijoules},
    {compat_families::pcie_replay_counter, metric_number<metric_id::pcie_replays, 0>},
    {compat_families::gpu_util, telemetry_number<&telemetry::gpu_busy_percent>},
    {compat_families::mem_copy_util, telemetry_number<&telemetry::memory_busy_percent>},
    {compat_families::enc_util, telemetry_number<&telemetry::encoder_busy_percent>},
    {compat_families::dec_util, telemetry_number<&telemetry::decoder_busy_percent>},
    {compat_families::fb_free, pool_mebibytes<&pool::free_bytes>},
    {compat_families::fb_used, pool_mebibytes<&pool::used_bytes>},
    {compat_families::fb_reserved, pool_mebibytes<&pool::reserved_bytes>},
    {compat_families::uncorrectable_rows,
     metric_number<metric_id::rows_remapped, HMN_REMAPPED_UNCORRECTED>},
    {compat_families::correctable_rows,
     metric_number<metric_id::rows_remapped, HMN_REMAPPED_CORRECTED>},
    {compat_families::row_remap_failure,
     metric_number<metric_id::rows_remapped, HMN_REMAPPED_FAILED>}};

constexpr Compatible of_nvidia_smi[] = {
    {compat_families::smi_index, index_number},
    {compat_families::smi_memory_total, pool_number<&pool::total_bytes>},
    {compat_families::smi_memory_used, pool_number<&pool::used_bytes>},
    {compat_families::smi_memory_free, pool_number<&pool::free_bytes>},
    {compat_families::smi_memory_reserved, pool_number<&pool::reserved_bytes>},
    {compat_families::smi_utilization_gpu, telemetry_number<&telemetry::gpu_busy_percent>,
     from_percent},
    {compat_families::smi_utilization_memory, telemetry_number<&telemetry::memory_busy_percent>,
     from_percent},
    {compat_families::smi_utilization_encoder, telemetry_number<&telemetry::encoder_busy_percent>,
     from_percent},
    {compat_families::smi_utilization_decoder, telemetry_number<&telemetry::decoder_busy_percent>,
     from_percent},
    {compat_families::smi_temperature_gpu, telemetry_number<&telemetry::temperature_celsius>},
    {compat_families::smi_temperature_memory, telemetry_number<&telemetry::memory_celsius>},
    {compat_families::smi_power_draw, telemetry_number<&telemetry::power_watts>},
    {compat_families::smi_power_limit, telemetry_number<&telemetry::power_limit_watts>},
    {compat_families::smi_current_limit,
     metric_number<metric_id::power_limit_watts, HMN_POWER_LIMIT_CURRENT>},
    {compat_families::smi_default_limit,
     metric_number<metric_id::power_limit_watts, HMN_POWER_LIMIT_DEFAULT>},
    {compat_families::smi_min_limit,
     metric_number<metric_id::power_limit_watts, HMN_POWER_LIMIT_MIN>},
    {compat_families::smi_max_limit,
     metric_number<metric_id::power_limit_watts, HMN_POWER_LIMIT_MAX>},
    {compat_families::smi_energy, telemetry_number<&telemetry::energy_joules>},
    {compat_families::smi_clock_graphics, telemetry_number<&telemetry::core_clock_mhz>,
     from_megahertz},
    {compat_families::smi_clock_memory, telemetry_number<&telemetry::memory_clock_mhz>,
     from_megahertz},
    {compat_families::smi_clock_sm, metric_number<metric_id::clock_mhz, HMN_CLOCK_SM>,
     from_megahertz},
    {compat_families::smi_clock_video, metric_number<metric_id::clock_mhz, HMN_CLOCK_VIDEO>,
     from_megahertz},
    {compat_families::smi_max_graphics, metric_number<metric_id::clock_limit_mhz, HMN_CLOCK_CORE>,
     from_megahertz},
    {compat_families::smi_max_memory, metric_number<metric_id::clock_limit_mhz, HMN_CLOCK_MEMORY>,
     from_megahertz},
    {compat_families::smi_max_sm, metric_number<metric_id::clock_limit_mhz, HMN_CLOCK_SM>,
     from_megahertz},
    {compat_families::smi_fan, telemetry_number<&telemetry::fan_percent>, from_percent},
    {compat_families::smi_pstate, telemetry_number<&telemetry::p_state>},
    {compat_families::smi_link_generation, telemetry_number<&telemetry::pcie_generation>},
    {compat_families::smi_link_width, telemetry_number<&telemetry::pcie_width>}};

const snapshot_device* parent_of(const snapshot_device& of,
                                 const std::vector<snapshot_device>& all) {
  if (!of.device.parent_index) return nullptr;
  return find_device_in(all, *of.device.parent_index,
                        [](const snapshot_device& each) { return each.device.index; });
}

// "0000:01:00.0" as NVIDIA's tools write it: "00000000:01:00.0".
std::string long_address(const std::optional<std::string>& address) {
  const auto text = address.value_or("");
  return text.find(':') == 4 ? "0000" + text : text;
}

// "3g.20gb" of "NVIDIA A100-PCIE-40GB MIG 3g.20gb".
std::string_view profile_of(std::string_view name) {
  constexpr std::string_view before = " MIG ";
  const auto at = name.find(before);
  return at == name.npos ? std::string_view() : name.substr(at + before.size());
}

LabelSet dcgm_labels(const snapshot_device& of, const std::vector<snapshot_device>& all) {
  const auto* parent = parent_of(of, all);
  const auto& gpu = parent == nullptr ? of.device : parent->device;
  const auto number = fmt::format("{}", gpu.driver_index.value_or(gpu.index));
  const bool is_nvidia = gpu.vendor == hypomnesis::vendor_id::nvidia;
  LabelSet with;
  with.add("gpu", number)
      .add("UUID", gpu.uuid.value_or(""))
      .add("pci_bus_id", long_address(gpu.pci_bus_id))
      .add("device", is_nvidia ? "nvidia" + number : "")
      .add("modelName", gpu.name.value_or(""))
      .add("hostname", host_name())
      .add("DCGM_FI_DRIVER_VERSION", gpu.driver_version.value_or(""));
  if (parent == nullptr) return with;
  return with.add("GPU_I_PROFILE", profile_of(of.device.name.value_or("")))
      .add("GPU_I_ID", of.device.gpu_instance ? fmt::format("{}", *of.device.gpu_instance) : "");
}

// The exporter of that name cuts what precedes the number.
std::string short_uuid(const std::optional<std::string>& uuid) {
  const std::string text = uuid.value_or("");
  return text.starts_with("GPU-") ? text.substr(4) : text;
}

void add_smi_info(const hypomnesis::device& device, LabelSet with, Samples& to) {
  with.add("name", device.name.value_or(""))
      .add("driver_version", device.driver_version.value_or(""))
      .add("pci_bus_id", long_address(device.pci_bus_id))
      .add("index", fmt::format("{}", device.driver_index.value_or(device.index)));
  to.add(compat_families::smi_info, with, true);
}

// Rates in the units of dcgm-exporter: bytes in a second over PCIe, 1000 KiB in a second over
// links.
void add_rates(std::uint32_t device_index, const TransferRates& rates, const LabelSet& with,
               Samples& to) {
  to.add(compat_families::pcie_sent, with, rates.of(device_index, Transfer::pcie_sent));
  to.add(compat_families::pcie_received, with, rates.of(device_index, Transfer::pcie_received));
  if (const auto bytes = rates.of(device_index, Transfer::links))
    to.add(compat_families::link_bandwidth, with, std::optional(*bytes / 1024), to_thousands);
}

void add_last_fault(const snapshot_device& of, LabelSet with, Samples& to) {
  const auto number = metric_number<metric_id::last_fault, 0>(of);
  if (number) with.add("err_code", fmt::format("{}", *number));
  to.add(compat_families::xid_errors, with, number);
}

void add_all(std::span<const Compatible> table, const snapshot_device& of, const LabelSet& with,
             Samples& to) {
  for (const auto& each : table) to.add(each.of, with, each.number(of), each.places);
}

void collect_dcgm(const std::vector<snapshot_device>& devices, const TransferRates& rates,
                  Samples& to) {
  for (const auto& each : devices) {
    const auto with = dcgm_labels(each, devices);
    add_all(of_dcgm, each, with, to);
    add_last_fault(each, with, to);
    add_rates(each.device.index, rates, with, to);
  }
}

// Partitions have other names there, and would be counted twice under these.
void collect_nvidia_smi(const std::vector<snapshot_device>& devices, Samples& to) {
  for (const auto& each : devices) {
    if (each.device.parent_index) continue;
    const auto with = LabelSet().add("uuid", short_uuid(each.device.uuid));
    add_smi_info(each.device, with, to);
    add_all(of_nvidia_smi, each, with, to);
  }
}

using hypomnesis::metric;
using hypomnesis::metric_id;
using hypomnesis::note;

std::optional<Transfer> transfer_of(metric_id id) {
  switch (id) {
    case metric_id::pcie_tx_bytes:
      return Transfer::pcie_sent;
    case metric_id::pcie_rx_bytes:
      return Transfer::pcie_received;
    case metric_id::link_tx_bytes:
    case metric_id::link_rx_bytes:
      return Transfer::links;
    default:
      return std::nullopt;
  }
}

bool is_exact(const metric& of) {
  return !has(of.notes, note::stale) && !has(of.notes, note::lower_bound);
}

}  // namespace

void collect_compatible(Dialect as, const std::vector<snapshot_device>& devices,
                        const TransferRates& rates, Samples& to) {
  if (as == Dialect::dcgm)
    collect_dcgm(devices, rates, to);
  else
    collect_nvidia_smi(devices, to);
}

void TransferRates::follow(Followed& one, const Counter& now) {
  const auto& last = one.last;
  one.rate.reset();
  if (now.parts != 0 && now.is_exact && last.is_exact && now.parts == last.parts &&
      now.bytes >= last.bytes && now.at_ns > last.at_ns &&
      !cli::was_suspended(last.suspended_ns, now.suspended_ns))
    one.rate = static_cast<double>(now.bytes - last.bytes) * ns_per_s /
               static_cast<double>(now.at_ns - last.at_ns);
  one.last = now;
}

void TransferRates::update(const hypomnesis::snapshot_values& from) {
  const std::uint64_t suspended_ns = cli::suspended_ns();
  for (const auto& device : from.devices) {
    std::array<Counter, 3> now{};
    for (auto& each : now) {
      each.at_ns = from.info.monotonic_ns;
      each.suspended_ns = suspended_ns;
    }
    for (const auto& each : device.metrics) {
      const auto what = transfer_of(each.id);
      if (!what || !each.count) continue;
      auto& sum = now[static_cast<std::size_t>(*what)];
      sum.bytes = saturating_sum(sum.bytes, *each.count);
      sum.is_exact = sum.is_exact && is_exact(each);
      ++sum.parts;
    }
    auto& rates = all_[device.device.index];
    for (std::size_t n = 0; n < now.size(); ++n) follow(rates[n], now[n]);
  }
}

std::optional<double> TransferRates::of(std::uint32_t device_index, Transfer what) const {
  const auto found = all_.find(device_index);
  return found == all_.end() ? std::nullopt : found->second[static_cast<std::size_t>(what)].rate;
}

}  // namespace hmn::cli
