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
using NumberReader = std::optional<double> (*)(const snapshot_device& gpu);

struct CompatibleMetric {
  Family family;
  NumberReader read;
  int places = 0;
};

template <auto Member>
std::optional<double> read_telemetry(const snapshot_device& gpu) {
  if (!gpu.telemetry || !((*gpu.telemetry).*Member)) return std::nullopt;
  return static_cast<double>(*((*gpu.telemetry).*Member));
}

template <auto Member>
std::optional<double> read_pool(const snapshot_device& gpu) {
  for (const auto& pool : gpu.pools)
    if (pool.is_main && pool.*Member) return static_cast<double>(*(pool.*Member));
  return std::nullopt;
}

template <auto Member>
std::optional<double> read_pool_mebibytes(const snapshot_device& gpu) {
  const auto bytes = read_pool<Member>(gpu);
  return bytes ? std::optional(*bytes / (1 << 20)) : std::nullopt;
}

template <metric_id Id, std::uint32_t Instance>
std::optional<double> read_metric(const snapshot_device& gpu) {
  for (const auto& metric : gpu.metrics) {
    if (metric.id != Id || metric.instance != Instance) continue;
    if (metric.value || !metric.count) return metric.value;
    return static_cast<double>(*metric.count);
  }
  return std::nullopt;
}

std::optional<double> read_sm_clock(const snapshot_device& gpu) {
  const auto value = read_metric<metric_id::clock_mhz, HMN_CLOCK_SM>(gpu);
  return value ? value : read_telemetry<&hypomnesis::telemetry::core_clock_mhz>(gpu);
}

std::optional<double> read_driver_index(const snapshot_device& gpu) {
  return gpu.device.driver_index.value_or(gpu.device.index);
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

constexpr CompatibleMetric dcgm_metrics[] = {
    {compat_families::sm_clock, read_sm_clock},
    {compat_families::mem_clock, read_telemetry<&telemetry::memory_clock_mhz>},
    {compat_families::memory_temp, read_telemetry<&telemetry::memory_celsius>},
    {compat_families::gpu_temp, read_telemetry<&telemetry::temperature_celsius>},
    {compat_families::power_usage, read_telemetry<&telemetry::power_watts>},
    {compat_families::energy_consumption, read_telemetry<&telemetry::energy_joules>,
     to_millijoules},
    {compat_families::pcie_replay_counter, read_metric<metric_id::pcie_replays, 0>},
    {compat_families::gpu_util, read_telemetry<&telemetry::gpu_busy_percent>},
    {compat_families::mem_copy_util, read_telemetry<&telemetry::memory_busy_percent>},
    {compat_families::enc_util, read_telemetry<&telemetry::encoder_busy_percent>},
    {compat_families::dec_util, read_telemetry<&telemetry::decoder_busy_percent>},
    {compat_families::fb_free, read_pool_mebibytes<&pool::free_bytes>},
    {compat_families::fb_used, read_pool_mebibytes<&pool::used_bytes>},
    {compat_families::fb_reserved, read_pool_mebibytes<&pool::reserved_bytes>},
    {compat_families::uncorrectable_rows,
     read_metric<metric_id::rows_remapped, HMN_REMAPPED_UNCORRECTED>},
    {compat_families::correctable_rows,
     read_metric<metric_id::rows_remapped, HMN_REMAPPED_CORRECTED>},
    {compat_families::row_remap_failure,
     read_metric<metric_id::rows_remapped, HMN_REMAPPED_FAILED>}};

constexpr CompatibleMetric nvidia_smi_metrics[] = {
    {compat_families::smi_index, read_driver_index},
    {compat_families::smi_memory_total, read_pool<&pool::total_bytes>},
    {compat_families::smi_memory_used, read_pool<&pool::used_bytes>},
    {compat_families::smi_memory_free, read_pool<&pool::free_bytes>},
    {compat_families::smi_memory_reserved, read_pool<&pool::reserved_bytes>},
    {compat_families::smi_utilization_gpu, read_telemetry<&telemetry::gpu_busy_percent>,
     from_percent},
    {compat_families::smi_utilization_memory, read_telemetry<&telemetry::memory_busy_percent>,
     from_percent},
    {compat_families::smi_utilization_encoder, read_telemetry<&telemetry::encoder_busy_percent>,
     from_percent},
    {compat_families::smi_utilization_decoder, read_telemetry<&telemetry::decoder_busy_percent>,
     from_percent},
    {compat_families::smi_temperature_gpu, read_telemetry<&telemetry::temperature_celsius>},
    {compat_families::smi_temperature_memory, read_telemetry<&telemetry::memory_celsius>},
    {compat_families::smi_power_draw, read_telemetry<&telemetry::power_watts>},
    {compat_families::smi_power_limit, read_telemetry<&telemetry::power_limit_watts>},
    {compat_families::smi_current_limit,
     read_metric<metric_id::power_limit_watts, HMN_POWER_LIMIT_CURRENT>},
    {compat_families::smi_default_limit,
     read_metric<metric_id::power_limit_watts, HMN_POWER_LIMIT_DEFAULT>},
    {compat_families::smi_min_limit,
     read_metric<metric_id::power_limit_watts, HMN_POWER_LIMIT_MIN>},
    {compat_families::smi_max_limit,
     read_metric<metric_id::power_limit_watts, HMN_POWER_LIMIT_MAX>},
    {compat_families::smi_energy, read_telemetry<&telemetry::energy_joules>},
    {compat_families::smi_clock_graphics, read_telemetry<&telemetry::core_clock_mhz>,
     from_megahertz},
    {compat_families::smi_clock_memory, read_telemetry<&telemetry::memory_clock_mhz>,
     from_megahertz},
    {compat_families::smi_clock_sm, read_metric<metric_id::clock_mhz, HMN_CLOCK_SM>,
     from_megahertz},
    {compat_families::smi_clock_video, read_metric<metric_id::clock_mhz, HMN_CLOCK_VIDEO>,
     from_megahertz},
    {compat_families::smi_max_graphics, read_metric<metric_id::clock_limit_mhz, HMN_CLOCK_CORE>,
     from_megahertz},
    {compat_families::smi_max_memory, read_metric<metric_id::clock_limit_mhz, HMN_CLOCK_MEMORY>,
     from_megahertz},
    {compat_families::smi_max_sm, read_metric<metric_id::clock_limit_mhz, HMN_CLOCK_SM>,
     from_megahertz},
    {compat_families::smi_fan, read_telemetry<&telemetry::fan_percent>, from_percent},
    {compat_families::smi_pstate, read_telemetry<&telemetry::p_state>},
    {compat_families::smi_link_generation, read_telemetry<&telemetry::pcie_generation>},
    {compat_families::smi_link_width, read_telemetry<&telemetry::pcie_width>}};

const snapshot_device* find_parent_gpu(const snapshot_device& gpu,
                                       const std::vector<snapshot_device>& gpus) {
  if (!gpu.device.parent_index) return nullptr;
  return find_by_index(gpus, *gpu.device.parent_index,
                       [](const snapshot_device& candidate) { return candidate.device.index; });
}

// "0000:01:00.0" as NVIDIA's tools write it: "00000000:01:00.0".
std::string format_long_address(const std::optional<std::string>& address) {
  const auto text = address.value_or("");
  return text.find(':') == 4 ? "0000" + text : text;
}

// "3g.20gb" of "NVIDIA A100-PCIE-40GB MIG 3g.20gb".
std::string_view parse_profile(std::string_view name) {
  constexpr std::string_view marker = " MIG ";
  const auto position = name.find(marker);
  return position == name.npos ? std::string_view() : name.substr(position + marker.size());
}

LabelSet make_dcgm_labels(const snapshot_device& gpu, const std::vector<snapshot_device>& gpus) {
  const auto* parent = find_parent_gpu(gpu, gpus);
  const auto& device = parent == nullptr ? gpu.device : parent->device;
  const auto number = fmt::format("{}", device.driver_index.value_or(device.index));
  const bool is_nvidia = device.vendor == hypomnesis::vendor_id::nvidia;
  LabelSet labels;
  labels.add("gpu", number)
      .add("UUID", device.uuid.value_or(""))
      .add("pci_bus_id", format_long_address(device.pci_bus_id))
      .add("device", is_nvidia ? "nvidia" + number : "")
      .add("modelName", device.name.value_or(""))
      .add("hostname", host_name())
      .add("DCGM_FI_DRIVER_VERSION", device.driver_version.value_or(""));
  if (parent == nullptr) return labels;
  return labels.add("GPU_I_PROFILE", parse_profile(gpu.device.name.value_or("")))
      .add("GPU_I_ID", gpu.device.gpu_instance ? fmt::format("{}", *gpu.device.gpu_instance) : "");
}

// The exporter of that name cuts what precedes the number.
std::string shorten_uuid(const std::optional<std::string>& uuid) {
  const std::string text = uuid.value_or("");
  return text.starts_with("GPU-") ? text.substr(4) : text;
}

void add_smi_info(const hypomnesis::device& device, LabelSet labels, Samples& samples) {
  labels.add("name", device.name.value_or(""))
      .add("driver_version", device.driver_version.value_or(""))
      .add("pci_bus_id", format_long_address(device.pci_bus_id))
      .add("index", fmt::format("{}", device.driver_index.value_or(device.index)));
  samples.add(compat_families::smi_info, labels, true);
}

// Rates in the units of dcgm-exporter: bytes in a second over PCIe, 1000 KiB in a second over
// links.
void add_rates(std::uint32_t device_index, const TransferRates& rates, const LabelSet& labels,
               Samples& samples) {
  samples.add(compat_families::pcie_sent, labels, rates.find(device_index, Transfer::pcie_sent));
  samples.add(compat_families::pcie_received, labels,
              rates.find(device_index, Transfer::pcie_received));
  if (const auto bytes = rates.find(device_index, Transfer::links))
    samples.add(compat_families::link_bandwidth, labels, std::optional(*bytes / 1024),
                to_thousands);
}

void add_last_fault(const snapshot_device& gpu, LabelSet labels, Samples& samples) {
  const auto number = read_metric<metric_id::last_fault, 0>(gpu);
  if (number) labels.add("err_code", fmt::format("{}", *number));
  samples.add(compat_families::xid_errors, labels, number);
}

void add_metrics(std::span<const CompatibleMetric> table, const snapshot_device& gpu,
                 const LabelSet& labels, Samples& samples) {
  for (const auto& entry : table) samples.add(entry.family, labels, entry.read(gpu), entry.places);
}

void collect_dcgm(const std::vector<snapshot_device>& devices, const TransferRates& rates,
                  Samples& samples) {
  for (const auto& gpu : devices) {
    const auto labels = make_dcgm_labels(gpu, devices);
    add_metrics(dcgm_metrics, gpu, labels, samples);
    add_last_fault(gpu, labels, samples);
    add_rates(gpu.device.index, rates, labels, samples);
  }
}

// Partitions have other names there, and would be counted twice under these.
void collect_nvidia_smi(const std::vector<snapshot_device>& devices, Samples& samples) {
  for (const auto& gpu : devices) {
    if (gpu.device.parent_index) continue;
    const auto labels = LabelSet().add("uuid", shorten_uuid(gpu.device.uuid));
    add_smi_info(gpu.device, labels, samples);
    add_metrics(nvidia_smi_metrics, gpu, labels, samples);
  }
}

using hypomnesis::metric;
using hypomnesis::metric_id;
using hypomnesis::note;

std::optional<Transfer> find_transfer(metric_id id) {
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

bool is_exact(const metric& metric) {
  return !has(metric.notes, note::stale) && !has(metric.notes, note::lower_bound);
}

}  // namespace

void collect_compatible(Dialect dialect, const std::vector<snapshot_device>& devices,
                        const TransferRates& rates, Samples& samples) {
  if (dialect == Dialect::dcgm)
    collect_dcgm(devices, rates, samples);
  else
    collect_nvidia_smi(devices, samples);
}

void TransferRates::update_rate(CounterHistory& history, const Counter& now) {
  const auto& last = history.last;
  history.rate.reset();
  if (now.parts != 0 && now.is_exact && last.is_exact && now.parts == last.parts &&
      now.bytes >= last.bytes && now.time_ns > last.time_ns &&
      !cli::was_suspended(last.suspended_ns, now.suspended_ns))
    history.rate = static_cast<double>(now.bytes - last.bytes) * ns_per_s /
                   static_cast<double>(now.time_ns - last.time_ns);
  history.last = now;
}

void TransferRates::update(const hypomnesis::snapshot_values& snapshot) {
  const std::uint64_t suspended_ns = cli::suspended_ns();
  for (const auto& gpu : snapshot.devices) {
    std::array<Counter, 3> now{};
    for (auto& counter : now) {
      counter.time_ns = snapshot.info.monotonic_ns;
      counter.suspended_ns = suspended_ns;
    }
    for (const auto& metric : gpu.metrics) {
      const auto transfer = find_transfer(metric.id);
      if (!transfer || !metric.count) continue;
      auto& sum = now[static_cast<std::size_t>(*transfer)];
      sum.bytes = saturating_sum(sum.bytes, *metric.count);
      sum.is_exact = sum.is_exact && is_exact(metric);
      ++sum.parts;
    }
    auto& histories = histories_[gpu.device.index];
    for (std::size_t n = 0; n < now.size(); ++n) update_rate(histories[n], now[n]);
  }
}

std::optional<double> TransferRates::find(std::uint32_t device_index, Transfer transfer) const {
  const auto it = histories_.find(device_index);
  return it == histories_.end() ? std::nullopt
                                : it->second[static_cast<std::size_t>(transfer)].rate;
}

}  // namespace hmn::cli
