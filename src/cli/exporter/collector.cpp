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

// Number of the only fan, or of the one that the GPU's own speed is of.
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

struct Exported {
  metric_id id;
  const Family& of;
  Naming by;
  std::string_view key;
  int places = 0;
};

constexpr Exported all_exported[] = {
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

void add_value(const Family& to_family, const LabelSet& with, const metric& of, int places,
               Samples& to) {
  if (of.value) to.add(to_family, with, of.value, places);
  if (!of.count) return;
  if (places == 0)
    to.add(to_family, with, of.count);
  else
    to.add(to_family, with, std::optional(static_cast<double>(*of.count)), places);
}

std::string instance_text(const metric& of) {
  const auto name = hypomnesis::instance_name(of.id, of.instance);
  if (!name.empty()) return std::string(name);
  return of.instance == 0 ? std::string() : fmt::format("{}", of.instance);
}

LabelSet labels_of(const Exported& as, const metric& of, const DeviceLabels& with) {
  const auto instance = instance_text(of);
  if (as.by == Naming::component) {
    const bool is_first_fan = as.key == "fan" && instance.empty();
    return with.part(as.key, is_first_fan ? std::string(first_fan) : instance);
  }
  if (as.by == Naming::error) return with.whole().with("error_type", as.key);
  if (as.by == Naming::label) return with.brief().with(as.key, instance);
  if (as.by == Naming::plain) return with.brief();
  const bool is_link = &as.of == &families::link_io;
  LabelSet directed = is_link ? with.brief() : with.whole();
  if (is_link) directed.add("link", instance);
  return directed.add("network_io_direction", as.key);
}

void add_limit(const metric& of, std::string_view type, const DeviceLabels& with, Samples& to) {
  const auto sensor = with.part("temperature", instance_text(of));
  add_value(families::temperature_limit, sensor.with("hw_limit_type", type), of, 0, to);
}

void add_memory_errors(const metric& of, std::string_view type, const DeviceLabels& with,
                       Samples& to) {
  const bool is_lifetime = of.instance == HMN_ERA_LIFETIME;
  const auto& errors = is_lifetime ? with.brief() : with.whole();
  add_value(is_lifetime ? families::lifetime_errors : families::errors,
            errors.with("error_type", type), of, 0, to);
}

void add_remapped(const metric& of, const DeviceLabels& with, Samples& to) {
  if (of.instance == HMN_REMAPPED_PENDING)
    add_value(families::row_remap_pending, with.brief(), of, 0, to);
  else if (of.instance == HMN_REMAPPED_FAILED)
    add_value(families::row_remap_failed, with.brief(), of, 0, to);
  else
    add_value(families::rows_remapped, with.brief().with("error_type", instance_text(of)), of, 0,
              to);
}

// Returns whether a counter of bytes may have wrapped between two scrapes, as one of 32 bits does
// within seconds: its rate would be far too low.
bool wraps(const metric& of) {
  return has(of.notes, hypomnesis::note::lower_bound);
}

// Adds a metric, unless the telemetry of the GPU has it.
void collect_metric(const metric& of, const DeviceLabels& with, Samples& to) {
  switch (of.id) {
    case metric_id::temperature_limit:
      return add_limit(of, "high.degraded", with, to);
    case metric_id::temperature_shutdown:
      return add_limit(of, "high.critical", with, to);
    case metric_id::ecc_corrected:
      return add_memory_errors(of, "corrected", with, to);
    case metric_id::ecc_uncorrected:
      return add_memory_errors(of, "uncorrected", with, to);
    case metric_id::rows_remapped:
      return add_remapped(of, with, to);
    default:
      break;
  }
  for (const auto& each : all_exported)
    if (each.id == of.id && !(each.by == Naming::direction && wraps(of)))
      add_value(each.of, labels_of(each, of, with), of, each.places, to);
}

using hypomnesis::run_state;
using hypomnesis::telemetry;

std::string partition_text(const hypomnesis::device& of) {
  if (!of.gpu_instance) return {};
  return fmt::format("{}:{}", *of.gpu_instance, of.compute_instance.value_or(0));
}

void collect_identity(const hypomnesis::device& of, const DeviceLabels& with, Samples& to) {
  LabelSet info = with.whole();
  info.add("index", fmt::format("{}", of.index))
      .add("uuid", of.uuid.value_or(""))
      .add("pci_bus_id", of.pci_bus_id.value_or(""))
      .add("device_class", class_word(of.device_class).value_or(std::string_view()))
      .add("form", form_word(of.form).value_or(std::string_view()))
      .add("memory_kind", memory_kind_word(of.memory_kind).value_or(std::string_view()))
      .add("driver_version", of.driver_version.value_or(""))
      .add("architecture", of.architecture.value_or(""))
      .add("partition", partition_text(of));
  to.add(families::device_info, info, true);
}

// A GPU that waits for memory rows to be replaced, or has one that cannot be, is degraded.
bool is_degraded(const hypomnesis::snapshot_device& of) {
  return std::any_of(of.metrics.begin(), of.metrics.end(), [](const hypomnesis::metric& each) {
    return each.id == hypomnesis::metric_id::rows_remapped && each.count.value_or(0) != 0 &&
           (each.instance == HMN_REMAPPED_PENDING || each.instance == HMN_REMAPPED_FAILED);
  });
}

void collect_state(const hypomnesis::snapshot_device& of, const DeviceLabels& with, Samples& to) {
  const auto state = of.device.state;
  if (state == run_state::unknown) return;
  const bool works = state == run_state::ready || state == run_state::asleep;
  const bool degraded = works && is_degraded(of);
  to.add(families::status, with.whole().with("hw_state", "ok"), works && !degraded);
  to.add(families::status, with.whole().with("hw_state", "degraded"), degraded);
  to.add(families::status, with.whole().with("hw_state", "failed"), !works);
  for (const auto each : {run_state::ready, run_state::asleep, run_state::lost,
                          run_state::unreadable, run_state::hung})
    to.add(families::device_state, with.brief().with("state", or_unknown(state_word(each))),
           each == state);
}

void collect_age(std::string_view subject, std::uint64_t age_ns, hypomnesis::note notes,
                 const DeviceLabels& with, Samples& to) {
  const auto of_subject = with.brief().with("subject", subject);
  to.add(families::reading_age, of_subject, std::optional(static_cast<double>(age_ns)),
         from_nanoseconds);
  to.add(families::reading_stale, of_subject, has(notes, hypomnesis::note::stale));
}

std::optional<double> share(const std::optional<std::uint64_t>& part,
                            const std::optional<std::uint64_t>& whole) {
  if (!part || !whole || *whole == 0) return std::nullopt;
  return static_cast<double>(*part) / static_cast<double>(*whole);
}

void collect_pool(const hypomnesis::pool& of, const DeviceLabels& with, Samples& to) {
  const bool is_bound = has(of.notes, hypomnesis::note::lower_bound);
  if (of.is_main) {
    add_sum(families::gpu_memory_usage, with.whole(), of.used_bytes, is_bound, to);
    to.add(families::gpu_memory_limit, with.whole(), of.total_bytes);
    to.add(families::gpu_memory_utilization, with.whole(), share(of.used_bytes, of.total_bytes));
    collect_age("pools", of.age_ns, of.notes, with, to);
  }
  const auto in = with.brief().with("pool", or_unknown(pool_word(of.kind)));
  add_sum(families::pool_used, in, of.used_bytes, is_bound, to);
  to.add(families::pool_size, in, of.total_bytes);
  to.add(families::pool_free, in, of.free_bytes);
  to.add(families::pool_reserved, in, of.reserved_bytes);
  to.add(families::pool_usable, in, of.usable_bytes);
  to.add(families::pool_budget, in, of.budget_bytes);
  to.add(families::pool_unattributed, in, of.unattributed_bytes);
}

void collect_throttle(const telemetry& of, const DeviceLabels& with, Samples& to) {
  if (!of.throttle) return;
  for (hmn_flags bit = HMN_THROTTLE_IDLE; bit <= HMN_THROTTLE_OTHER; bit <<= 1)
    to.add(families::throttle,
           with.brief().with("reason",
                             hypomnesis::instance_name(hypomnesis::metric_id::throttle_ns, bit)),
           (number(*of.throttle) & bit) != 0);
}

template <class T>
std::optional<double> real(const std::optional<T>& number) {
  return number ? std::optional(static_cast<double>(*number)) : std::nullopt;
}

void collect_load(const telemetry& of, const DeviceLabels& with, Samples& to) {
  const auto task = [&](std::string_view name) { return with.whole().with("hw_gpu_task", name); };
  to.add(families::gpu_utilization, task("general"), of.gpu_busy_percent, from_percent);
  to.add(families::gpu_utilization, task("encoder"), of.encoder_busy_percent, from_percent);
  to.add(families::gpu_utilization, task("decoder"), of.decoder_busy_percent, from_percent);
  to.add(families::memory_controller, with.brief(), of.memory_busy_percent, from_percent);
  const auto direction = [&](std::string_view name) {
    return with.whole().with("network_io_direction", name);
  };
  to.add(families::gpu_io, direction("receive"), of.pcie_rx_bytes);
  to.add(families::gpu_io, direction("transmit"), of.pcie_tx_bytes);
}

void collect_telemetry(const telemetry& of, const DeviceLabels& with, Samples& to) {
  collect_load(of, with, to);
  to.add(families::temperature, with.part("temperature", "core"), of.temperature_celsius);
  to.add(families::temperature, with.part("temperature", "hotspot"), of.hotspot_celsius);
  to.add(families::temperature, with.part("temperature", "memory"), of.memory_celsius);
  to.add(families::power, with.whole(), of.power_watts);
  to.add(families::power_limit, with.brief().with("limit", "current"), of.power_limit_watts);
  to.add(families::energy, with.whole(), of.energy_joules);
  to.add(families::clock, with.brief().with("clock", "core"), real(of.core_clock_mhz),
         from_megahertz);
  to.add(families::clock, with.brief().with("clock", "memory"), real(of.memory_clock_mhz),
         from_megahertz);
  to.add(families::pcie_generation, with.brief(), real(of.pcie_generation));
  to.add(families::pcie_lanes, with.brief(), real(of.pcie_width));
  to.add(families::performance_state, with.brief(), real(of.p_state));
  collect_throttle(of, with, to);
  collect_age("telemetry", of.age_ns, of.notes, with, to);
}

// The speed of the whole GPU is that of its first fan. It comes after the list of fans, of which
// the sample of the first is written, so that a fan keeps its id where the list fails.
void collect_first_fan(const telemetry& of, const DeviceLabels& with, Samples& to) {
  const auto fan = with.part("fan", first_fan);
  to.add(families::fan_speed_ratio, fan, real(of.fan_percent), from_percent);
  to.add(families::fan_speed, fan, real(of.fan_rpm));
}

// Adds what a snapshot has of one GPU: identity, state, pools, telemetry and metrics.
void collect_device(const hypomnesis::snapshot_device& of, const DeviceLabels& with, Samples& to) {
  collect_identity(of.device, with, to);
  collect_state(of, with, to);
  for (const auto& each : of.pools) collect_pool(each, with, to);
  if (of.telemetry) collect_telemetry(*of.telemetry, with, to);
  for (const auto& each : of.metrics) collect_metric(each, with, to);
  if (of.telemetry) collect_first_fan(*of.telemetry, with, to);
}

using hypomnesis::status_code;

// Counts the fields named, each as often as the diagnostic was merged.
std::uint64_t values_in(const hypomnesis::diagnostic& of) {
  const int fields = of.field ? std::popcount(*of.field) : 0;
  return std::uint64_t(std::max(fields, 1)) * std::max(of.count, 1U);
}

// A source that certainly has no device, or a warning, hides nothing.
bool is_missing_value(const hypomnesis::diagnostic& of) {
  return !is_trace(of) && of.status != status_code::no_device && of.status != status_code::ok;
}

void add_source_error(const hypomnesis::diagnostic& of, Samples& to) {
  if (of.device_index || of.pid || of.native_domain == hypomnesis::domain::none || !is_fault(of))
    return;
  LabelSet with;
  with.add("source", hypomnesis::name(of.backend))
      .add("domain", or_unknown(domain_word(of.native_domain)))
      .add("code", fmt::format("{}", of.native_code));
  to.add(families::source_error, with, true);
}

// Adds how many values are missing for which reason, and which sources failed as a whole.
void collect_missing(const std::vector<hypomnesis::diagnostic>& all, const DeviceIds& ids,
                     Samples& to) {
  std::map<std::tuple<std::string, std::string, std::string>, std::uint64_t> counts;
  for (const auto& each : all) {
    if (!is_missing_value(each)) continue;
    const auto key = std::make_tuple(each.device_index ? ids.of(*each.device_index) : std::string(),
                                     std::string(or_unknown(subject_word(each.subject))),
                                     std::string(hypomnesis::name(each.reason)));
    counts[key] += values_in(each);
    add_source_error(each, to);
  }
  for (const auto& [key, count] : counts) {
    LabelSet with;
    with.add("device", std::get<0>(key))
        .add("subject", std::get<1>(key))
        .add("reason", std::get<2>(key));
    to.add(families::reading_error, with, SampleValue(count));
  }
}

// Adds up a part of what processes hold. Memory that several of them hold is in each of their rows:
// the largest counts.
template <class Rows>
void add_total(const Family& of, const Rows& rows, const DeviceLabels& with,
               std::optional<std::uint64_t> hypomnesis::usage::*part, bool is_of_used,
               Samples& to) {
  std::optional<UsageSum> sum;
  bool is_partial = false;
  for (const auto& each : rows) {
    const auto bytes = each.*part;
    is_partial = is_partial || !bytes || has(each.notes, hypomnesis::note::lower_bound);
    if (!bytes) continue;
    if (!sum) sum.emplace();
    (is_of_used ? add_usage : add_apart)(*sum, each, *bytes);
  }
  if (sum) add_sum(of, with.brief(), sum->at_least(), is_partial || !sum->is_exact(), to);
}

void collect_usages(const hypomnesis::snapshot_values& from, const hypomnesis::device& device,
                    const DeviceLabels& with, const PartialLists& unlisted, Samples& to) {
  const auto rows = part_of(from.usages, device.index);
  const bool is_unified = device.memory_kind == hypomnesis::device_memory::unified;
  add_total(families::evicted, rows, with, &hypomnesis::usage::evicted_bytes, false, to);
  add_total(families::host_pool, rows, with, &hypomnesis::usage::host_pool_bytes, is_unified, to);
  if (!unlisted.lacks(device.index))
    to.add(families::processes, with.brief(), SampleValue(std::uint64_t(rows.size())));
}

void collect_host(const hypomnesis::system_memory& from, Samples& to) {
  const LabelSet none;
  to.add(families::host_size, none, from.total_bytes);
  to.add(families::host_available, none, from.available_bytes);
  to.add(families::host_usable, none, from.usable_bytes);
  to.add(families::host_swap_size, none, from.swap_total_bytes);
  to.add(families::host_swap_free, none, from.swap_free_bytes);
  to.add(families::host_stall, none, from.stall_percent, from_percent);
}

void collect_snapshot(const hypomnesis::snapshot_values& from, Samples& to) {
  const LabelSet none;
  const bool is_unknown =
      from.devices.empty() &&
      std::any_of(from.diagnostics.begin(), from.diagnostics.end(), hides_devices);
  if (!is_unknown) {
    const auto state_of = [&](std::uint32_t index) {
      return find_device_in(from.devices, index, [](const auto& one) { return one.device.index; })
          ->device.state;
    };
    to.add(families::devices, none, SampleValue(std::uint64_t(from.devices.size())));
    to.add(families::devices_partial, none, lacks_devices(from.diagnostics, state_of));
    to.add(families::unreadable_processes, none,
           SampleValue(std::uint64_t(from.info.unreadable_process_count)));
  }
  to.add(families::snapshot_duration, none,
         std::optional(static_cast<double>(from.info.duration_ns)), from_nanoseconds);
  to.add(families::snapshot_time, none, std::optional(static_cast<double>(from.info.unix_time_ns)),
         from_nanoseconds);
  to.add(families::build_info, none.with("version", hypomnesis::version_string()), true);
}

}  // namespace

void add_sum(const Family& of, const LabelSet& with, std::optional<std::uint64_t> value,
             bool is_at_least, Samples& to) {
  to.add(of, with, value);
  if (value && is_at_least) to.add(families::lower_bound, with.with("series", of.name), true);
}

PartialLists unlisted_in(const hypomnesis::snapshot_values& from) {
  PartialLists out;
  for (const auto& each : from.diagnostics) {
    if (!hides_list(each)) continue;
    if (each.device_index)
      out.devices.insert(*each.device_index);
    else
      out.all = true;
  }
  return out;
}

void collect(const hypomnesis::snapshot_values& from, const DeviceIds& ids, Samples& to) {
  const auto unlisted = unlisted_in(from);
  for (const auto& each : from.devices) {
    const DeviceLabels with(each.device, ids);
    collect_device(each, with, to);
    collect_usages(from, each.device, with, unlisted, to);
  }
  collect_missing(from.diagnostics, ids, to);
  if (from.system) collect_host(*from.system, to);
  collect_snapshot(from, to);
}

}  // namespace hmn::cli
