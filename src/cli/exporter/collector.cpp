// SPDX-License-Identifier: MIT OR Apache-2.0
#include "cli/exporter/collector.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <bit>
#include <hypomnesis.hpp>
#include <map>
#include <string>
#include <string_view>
#include <tuple>
#include <vector>

#include "cli/exporter/devices.hpp"
#include "cli/exporter/families.hpp"
#include "cli/exporter/samples.hpp"
#include "cli/measure/session.hpp"
#include "cli/measure/snapshot_records.hpp"
#include "cli/text/diagnostics.hpp"
#include "cli/text/numbers.hpp"
#include "cli/text/words.hpp"

namespace hmn::cli {
namespace {

// Number of the only fan, or of the fan whose speed the GPU reports as its own.
constexpr std::string_view first_fan = "1";

using hypomnesis::metric;
using hypomnesis::metric_id;

// How the instances of a metric are distinguished.
enum class Naming {
  label,      // by the label `key`
  component,  // as components of the GPU, of the type `key`
  direction,  // `key` is the direction; the instance is the link
  error,      // `key` is the type of the error
  plain       // by nothing
};

struct MetricExport {
  metric_id id;
  const Family& family;
  Naming naming;
  std::string_view key;
  int places = 0;
};

constexpr MetricExport metric_exports[] = {
    {metric_id::engine_percent, families::engine_utilization, Naming::label, "engine",
     from_percent},
    {metric_id::engine_busy_ns, families::engine_busy, Naming::label, "engine", from_nanoseconds},
    {metric_id::engine_capacity, families::engines, Naming::label, "engine"},
    {metric_id::temperature, families::temperature, Naming::component, "temperature"},
    {metric_id::fan_rpm, families::fan_speed, Naming::component, "fan"},
    {metric_id::fan_percent, families::fan_speed_ratio, Naming::component, "fan", from_percent},
    {metric_id::voltage, families::voltage, Naming::component, "voltage"},
    {metric_id::power_watts, families::power_reading, Naming::label, "reading"},
    {metric_id::energy_joules, families::energy_reading, Naming::label, "reading"},
    {metric_id::power_limit_watts, families::power_limit, Naming::label, "limit"},
    {metric_id::clock_mhz, families::clock, Naming::label, "clock", from_megahertz},
    {metric_id::clock_limit_mhz, families::clock_limit, Naming::label, "clock", from_megahertz},
    {metric_id::throttle_ns, families::throttle_time, Naming::label, "reason", from_nanoseconds},
    {metric_id::last_fault, families::last_fault, Naming::plain, ""},
    {metric_id::pcie_replays, families::errors, Naming::error, "pcie_replay"},
    {metric_id::pcie_rx_bytes, families::gpu_io, Naming::direction, "receive"},
    {metric_id::pcie_tx_bytes, families::gpu_io, Naming::direction, "transmit"},
    {metric_id::link_rx_bytes, families::link_io, Naming::direction, "receive"},
    {metric_id::link_tx_bytes, families::link_io, Naming::direction, "transmit"},
};

void add_value(const Family& family, const LabelSet& labels, const metric& metric, int places,
               Samples& samples) {
  if (metric.value) samples.add(family, labels, metric.value, places);
  if (!metric.count) return;
  if (places == 0)
    samples.add(family, labels, metric.count);
  else
    samples.add(family, labels, std::optional(static_cast<double>(*metric.count)), places);
}

std::string format_instance(const metric& metric) {
  const auto name = hypomnesis::instance_name(metric.id, metric.instance);
  if (!name.empty()) return std::string(name);
  return metric.instance == 0 ? std::string() : fmt::format("{}", metric.instance);
}

LabelSet make_metric_labels(const MetricExport& entry, const metric& metric,
                            const DeviceLabels& labels) {
  const auto instance = format_instance(metric);
  if (entry.naming == Naming::component) {
    const bool is_first_fan = entry.key == "fan" && instance.empty();
    return labels.component(entry.key, is_first_fan ? std::string(first_fan) : instance);
  }
  if (entry.naming == Naming::error) return labels.full_labels().with_label("error_type", entry.key);
  if (entry.naming == Naming::label) return labels.short_labels().with_label(entry.key, instance);
  if (entry.naming == Naming::plain) return labels.short_labels();
  const bool is_link = &entry.family == &families::link_io;
  LabelSet result = is_link ? labels.short_labels() : labels.full_labels();
  if (is_link) result.add("link", instance);
  return result.add("network_io_direction", entry.key);
}

void add_limit(const metric& metric, std::string_view type, const DeviceLabels& labels,
               Samples& samples) {
  const auto sensor = labels.component("temperature", format_instance(metric));
  add_value(families::temperature_limit, sensor.with_label("hw_limit_type", type), metric, 0,
            samples);
}

void add_memory_errors(const metric& metric, std::string_view type, const DeviceLabels& labels,
                       Samples& samples) {
  const bool is_lifetime = metric.instance == HMN_ERA_LIFETIME;
  const auto& errors = is_lifetime ? labels.short_labels() : labels.full_labels();
  add_value(is_lifetime ? families::lifetime_errors : families::errors,
            errors.with_label("error_type", type), metric, 0, samples);
}

void add_remapped(const metric& metric, const DeviceLabels& labels, Samples& samples) {
  if (metric.instance == HMN_REMAPPED_PENDING)
    add_value(families::row_remap_pending, labels.short_labels(), metric, 0, samples);
  else if (metric.instance == HMN_REMAPPED_FAILED)
    add_value(families::row_remap_failed, labels.short_labels(), metric, 0, samples);
  else
    add_value(families::rows_remapped,
              labels.short_labels().with_label("error_type", format_instance(metric)), metric, 0, samples);
}

// Returns whether a counter of bytes may have wrapped between two scrapes, as one of 32 bits does
// within seconds: its rate would be far too low.
bool can_wrap(const metric& metric) {
  return has(metric.notes, hypomnesis::note::lower_bound);
}

// Adds a metric, unless the telemetry of the GPU has it.
void collect_metric(const metric& metric, const DeviceLabels& labels, Samples& samples) {
  switch (metric.id) {
    case metric_id::temperature_limit:
      return add_limit(metric, "high.degraded", labels, samples);
    case metric_id::temperature_shutdown:
      return add_limit(metric, "high.critical", labels, samples);
    case metric_id::ecc_corrected:
      return add_memory_errors(metric, "corrected", labels, samples);
    case metric_id::ecc_uncorrected:
      return add_memory_errors(metric, "uncorrected", labels, samples);
    case metric_id::rows_remapped:
      return add_remapped(metric, labels, samples);
    default:
      break;
  }
  for (const auto& entry : metric_exports)
    if (entry.id == metric.id && !(entry.naming == Naming::direction && can_wrap(metric)))
      add_value(entry.family, make_metric_labels(entry, metric, labels), metric, entry.places,
                samples);
}

using hypomnesis::run_state;
using hypomnesis::telemetry;

std::string format_partition(const hypomnesis::device& device) {
  if (!device.gpu_instance) return {};
  return fmt::format("{}:{}", *device.gpu_instance, device.compute_instance.value_or(0));
}

void collect_identity(const hypomnesis::device& device, const DeviceLabels& labels,
                      Samples& samples) {
  LabelSet info = labels.full_labels();
  info.add("index", fmt::format("{}", device.index))
      .add("uuid", device.uuid.value_or(""))
      .add("pci_bus_id", device.pci_bus_id.value_or(""))
      .add("device_class", class_word(device.device_class).value_or(std::string_view()))
      .add("form", form_word(device.form).value_or(std::string_view()))
      .add("memory_kind", memory_kind_word(device.memory_kind).value_or(std::string_view()))
      .add("driver_version", device.driver_version.value_or(""))
      .add("architecture", device.architecture.value_or(""))
      .add("partition", format_partition(device));
  samples.add(families::device_info, info, true);
}

// A GPU that waits for memory rows to be replaced, or has one that cannot be, is degraded.
bool is_degraded(const hypomnesis::snapshot_device& gpu) {
  return std::any_of(gpu.metrics.begin(), gpu.metrics.end(), [](const hypomnesis::metric& metric) {
    return metric.id == hypomnesis::metric_id::rows_remapped && metric.count.value_or(0) != 0 &&
           (metric.instance == HMN_REMAPPED_PENDING || metric.instance == HMN_REMAPPED_FAILED);
  });
}

void collect_state(const hypomnesis::snapshot_device& gpu, const DeviceLabels& labels,
                   Samples& samples) {
  const auto state = gpu.device.state;
  if (state == run_state::unknown) return;
  const bool works = state == run_state::ready || state == run_state::asleep;
  const bool degraded = works && is_degraded(gpu);
  samples.add(families::status, labels.full_labels().with_label("hw_state", "ok"), works && !degraded);
  samples.add(families::status, labels.full_labels().with_label("hw_state", "degraded"), degraded);
  samples.add(families::status, labels.full_labels().with_label("hw_state", "failed"), !works);
  for (const auto candidate : {run_state::ready, run_state::asleep, run_state::lost,
                               run_state::unreadable, run_state::hung})
    samples.add(families::device_state,
                labels.short_labels().with_label("state", or_unknown(state_word(candidate))),
                candidate == state);
}

void collect_age(std::string_view subject, std::uint64_t age_ns, hypomnesis::note notes,
                 const DeviceLabels& labels, Samples& samples) {
  const auto subject_labels = labels.short_labels().with_label("subject", subject);
  samples.add(families::reading_age, subject_labels, std::optional(static_cast<double>(age_ns)),
              from_nanoseconds);
  samples.add(families::reading_stale, subject_labels, has(notes, hypomnesis::note::stale));
}

std::optional<double> compute_share(const std::optional<std::uint64_t>& part,
                                    const std::optional<std::uint64_t>& whole) {
  if (!part || !whole || *whole == 0) return std::nullopt;
  return static_cast<double>(*part) / static_cast<double>(*whole);
}

void collect_pool(const hypomnesis::pool& pool, const DeviceLabels& labels, Samples& samples) {
  const bool is_bound = has(pool.notes, hypomnesis::note::lower_bound);
  if (pool.is_main) {
    add_sum(families::gpu_memory_usage, labels.full_labels(), pool.used_bytes, is_bound, samples);
    samples.add(families::gpu_memory_limit, labels.full_labels(), pool.total_bytes);
    samples.add(families::gpu_memory_utilization, labels.full_labels(),
                compute_share(pool.used_bytes, pool.total_bytes));
    collect_age("pools", pool.age_ns, pool.notes, labels, samples);
  }
  const auto pool_labels = labels.short_labels().with_label("pool", or_unknown(pool_word(pool.kind)));
  add_sum(families::pool_used, pool_labels, pool.used_bytes, is_bound, samples);
  samples.add(families::pool_size, pool_labels, pool.total_bytes);
  samples.add(families::pool_free, pool_labels, pool.free_bytes);
  samples.add(families::pool_reserved, pool_labels, pool.reserved_bytes);
  samples.add(families::pool_usable, pool_labels, pool.usable_bytes);
  samples.add(families::pool_budget, pool_labels, pool.budget_bytes);
  samples.add(families::pool_unattributed, pool_labels, pool.unattributed_bytes);
}

void collect_throttle(const telemetry& telemetry, const DeviceLabels& labels, Samples& samples) {
  if (!telemetry.throttle) return;
  for (hmn_flags bit = HMN_THROTTLE_IDLE; bit <= HMN_THROTTLE_OTHER; bit <<= 1)
    samples.add(families::throttle,
                labels.short_labels().with_label(
                    "reason", hypomnesis::instance_name(hypomnesis::metric_id::throttle_ns, bit)),
                (number(*telemetry.throttle) & bit) != 0);
}

template <class T>
std::optional<double> to_double(const std::optional<T>& number) {
  return number ? std::optional(static_cast<double>(*number)) : std::nullopt;
}

void collect_load(const telemetry& telemetry, const DeviceLabels& labels, Samples& samples) {
  const auto task = [&](std::string_view name) {
    return labels.full_labels().with_label("hw_gpu_task", name);
  };
  samples.add(families::gpu_utilization, task("general"), telemetry.gpu_busy_percent, from_percent);
  samples.add(families::gpu_utilization, task("encoder"), telemetry.encoder_busy_percent,
              from_percent);
  samples.add(families::gpu_utilization, task("decoder"), telemetry.decoder_busy_percent,
              from_percent);
  samples.add(families::memory_controller, labels.short_labels(), telemetry.memory_busy_percent,
              from_percent);
  const auto direction = [&](std::string_view name) {
    return labels.full_labels().with_label("network_io_direction", name);
  };
  samples.add(families::gpu_io, direction("receive"), telemetry.pcie_rx_bytes);
  samples.add(families::gpu_io, direction("transmit"), telemetry.pcie_tx_bytes);
}

void collect_telemetry(const telemetry& telemetry, const DeviceLabels& labels, Samples& samples) {
  collect_load(telemetry, labels, samples);
  samples.add(families::temperature, labels.component("temperature", "core"),
              telemetry.temperature_celsius);
  samples.add(families::temperature, labels.component("temperature", "hotspot"),
              telemetry.hotspot_celsius);
  samples.add(families::temperature, labels.component("temperature", "memory"),
              telemetry.memory_celsius);
  samples.add(families::power, labels.full_labels(), telemetry.power_watts);
  samples.add(families::power_limit, labels.short_labels().with_label("limit", "current"),
              telemetry.power_limit_watts);
  samples.add(families::energy, labels.full_labels(), telemetry.energy_joules);
  samples.add(families::clock, labels.short_labels().with_label("clock", "core"),
              to_double(telemetry.core_clock_mhz), from_megahertz);
  samples.add(families::clock, labels.short_labels().with_label("clock", "memory"),
              to_double(telemetry.memory_clock_mhz), from_megahertz);
  samples.add(families::pcie_generation, labels.short_labels(), to_double(telemetry.pcie_generation));
  samples.add(families::pcie_lanes, labels.short_labels(), to_double(telemetry.pcie_width));
  samples.add(families::performance_state, labels.short_labels(), to_double(telemetry.p_state));
  collect_throttle(telemetry, labels, samples);
  collect_age("telemetry", telemetry.age_ns, telemetry.notes, labels, samples);
}

// The speed of the whole GPU is that of its first fan. It comes after the list of fans, of which
// the sample of the first is written, so that a fan keeps its id where the list fails.
void collect_first_fan(const telemetry& telemetry, const DeviceLabels& labels, Samples& samples) {
  const auto fan = labels.component("fan", first_fan);
  samples.add(families::fan_speed_ratio, fan, to_double(telemetry.fan_percent), from_percent);
  samples.add(families::fan_speed, fan, to_double(telemetry.fan_rpm));
}

// Adds what a snapshot has of one GPU: identity, state, pools, telemetry and metrics.
void collect_device(const hypomnesis::snapshot_device& gpu, const DeviceLabels& labels,
                    Samples& samples) {
  collect_identity(gpu.device, labels, samples);
  collect_state(gpu, labels, samples);
  for (const auto& pool : gpu.pools) collect_pool(pool, labels, samples);
  if (gpu.telemetry) collect_telemetry(*gpu.telemetry, labels, samples);
  for (const auto& metric : gpu.metrics) collect_metric(metric, labels, samples);
  if (gpu.telemetry) collect_first_fan(*gpu.telemetry, labels, samples);
}

using hypomnesis::status_code;

// Counts the fields named, each as often as the diagnostic was merged.
std::uint64_t count_values(const hypomnesis::diagnostic& diagnostic) {
  const int fields = diagnostic.field ? std::popcount(*diagnostic.field) : 0;
  return std::uint64_t(std::max(fields, 1)) * std::max(diagnostic.count, 1U);
}

// A source that certainly has no device, or a warning, hides nothing.
bool is_missing_value(const hypomnesis::diagnostic& diagnostic) {
  return !is_trace(diagnostic) && diagnostic.status != status_code::no_device &&
         diagnostic.status != status_code::ok;
}

void add_source_error(const hypomnesis::diagnostic& diagnostic, Samples& samples) {
  if (diagnostic.device_index || diagnostic.pid ||
      diagnostic.native_domain == hypomnesis::domain::none || !is_fault(diagnostic))
    return;
  LabelSet labels;
  labels.add("source", hypomnesis::name(diagnostic.backend))
      .add("domain", or_unknown(domain_word(diagnostic.native_domain)))
      .add("code", fmt::format("{}", diagnostic.native_code));
  samples.add(families::source_error, labels, true);
}

// Adds how many values are missing for which reason, and which sources failed as a whole.
void collect_missing(const std::vector<hypomnesis::diagnostic>& diagnostics, const DeviceIds& ids,
                     Samples& samples) {
  std::map<std::tuple<std::string, std::string, std::string>, std::uint64_t> counts;
  for (const auto& diagnostic : diagnostics) {
    if (!is_missing_value(diagnostic)) continue;
    const auto key =
        std::make_tuple(diagnostic.device_index ? ids.get(*diagnostic.device_index) : std::string(),
                        std::string(or_unknown(subject_word(diagnostic.subject))),
                        std::string(hypomnesis::name(diagnostic.reason)));
    counts[key] += count_values(diagnostic);
    add_source_error(diagnostic, samples);
  }
  for (const auto& [key, count] : counts) {
    LabelSet labels;
    labels.add("device", std::get<0>(key))
        .add("subject", std::get<1>(key))
        .add("reason", std::get<2>(key));
    samples.add(families::reading_error, labels, SampleValue(count));
  }
}

// Adds up a part of what processes hold. Memory that several of them hold is in each of their rows:
// the largest counts.
template <class Rows>
void add_total(const Family& family, const Rows& rows, const DeviceLabels& labels,
               std::optional<std::uint64_t> hypomnesis::usage::*field, bool counts_as_used,
               Samples& samples) {
  std::optional<UsageSum> sum;
  bool is_partial = false;
  for (const auto& row : rows) {
    const auto bytes = row.*field;
    is_partial = is_partial || !bytes || has(row.notes, hypomnesis::note::lower_bound);
    if (!bytes) continue;
    if (!sum) sum.emplace();
    (counts_as_used ? add_usage : add_separate_usage)(*sum, row, *bytes);
  }
  if (sum)
    add_sum(family, labels.short_labels(), sum->lower_bound(), is_partial || !sum->is_exact(), samples);
}

void collect_usages(const hypomnesis::snapshot_values& snapshot, const hypomnesis::device& device,
                    const DeviceLabels& labels, const PartialLists& partial, Samples& samples) {
  const auto rows = filter_by_device(snapshot.usages, device.index);
  const bool is_unified = device.memory_kind == hypomnesis::device_memory::unified;
  add_total(families::evicted, rows, labels, &hypomnesis::usage::evicted_bytes, false, samples);
  add_total(families::host_pool, rows, labels, &hypomnesis::usage::host_pool_bytes, is_unified,
            samples);
  if (!partial.lacks(device.index))
    samples.add(families::processes, labels.short_labels(), SampleValue(std::uint64_t(rows.size())));
}

void collect_host(const hypomnesis::system_memory& memory, Samples& samples) {
  const LabelSet none;
  samples.add(families::host_size, none, memory.total_bytes);
  samples.add(families::host_available, none, memory.available_bytes);
  samples.add(families::host_usable, none, memory.usable_bytes);
  samples.add(families::host_swap_size, none, memory.swap_total_bytes);
  samples.add(families::host_swap_free, none, memory.swap_free_bytes);
  samples.add(families::host_stall, none, memory.stall_percent, from_percent);
}

void collect_snapshot(const hypomnesis::snapshot_values& snapshot, Samples& samples) {
  const LabelSet none;
  const bool is_unknown =
      snapshot.devices.empty() &&
      std::any_of(snapshot.diagnostics.begin(), snapshot.diagnostics.end(), hides_devices);
  if (!is_unknown) {
    const auto get_state = [&](std::uint32_t index) {
      return find_by_index(snapshot.devices, index,
                           [](const auto& gpu) { return gpu.device.index; })
          ->device.state;
    };
    samples.add(families::devices, none, SampleValue(std::uint64_t(snapshot.devices.size())));
    samples.add(families::devices_partial, none, lacks_devices(snapshot.diagnostics, get_state));
    samples.add(families::unreadable_processes, none,
                SampleValue(std::uint64_t(snapshot.info.unreadable_process_count)));
  }
  samples.add(families::snapshot_duration, none,
              std::optional(static_cast<double>(snapshot.info.duration_ns)), from_nanoseconds);
  samples.add(families::snapshot_time, none,
              std::optional(static_cast<double>(snapshot.info.unix_time_ns)), from_nanoseconds);
  samples.add(families::build_info, none.with_label("version", hypomnesis::version_string()), true);
}

}  // namespace

void add_sum(const Family& family, const LabelSet& labels, std::optional<std::uint64_t> value,
             bool is_at_least, Samples& samples) {
  samples.add(family, labels, value);
  if (value && is_at_least)
    samples.add(families::lower_bound, labels.with_label("series", family.name), true);
}

PartialLists find_partial_lists(const hypomnesis::snapshot_values& snapshot) {
  PartialLists result;
  for (const auto& diagnostic : snapshot.diagnostics) {
    if (!hides_some_processes(diagnostic)) continue;
    if (diagnostic.device_index)
      result.devices.insert(*diagnostic.device_index);
    else
      result.all = true;
  }
  return result;
}

void collect_samples(const hypomnesis::snapshot_values& snapshot, const DeviceIds& ids,
                     Samples& samples) {
  const auto partial = find_partial_lists(snapshot);
  for (const auto& gpu : snapshot.devices) {
    const DeviceLabels labels(gpu.device, ids);
    collect_device(gpu, labels, samples);
    collect_usages(snapshot, gpu.device, labels, partial, samples);
  }
  collect_missing(snapshot.diagnostics, ids, samples);
  if (snapshot.system) collect_host(*snapshot.system, samples);
  collect_snapshot(snapshot, samples);
}

}  // namespace hmn::cli
