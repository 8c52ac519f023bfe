// SPDX-License-Identifier: MIT OR Apache-2.0
#include "cli/exporter/metric_values.hpp"

#include <fmt/format.h>

#include <string>

#include "cli/exporter/families.hpp"

namespace hmn::cli {
namespace {

using hypomnesis::metric;
using hypomnesis::metric_id;

// How the instances of a metric are distinguished.
enum class naming {
  label,      // by the label `key`
  component,  // as components of the GPU, of the type `key`
  direction,  // `key` is the direction; the instance is the link
  error,      // `key` is the type of the error
  plain       // by nothing
};

struct exported {
  metric_id id;
  const family& of;
  naming by;
  std::string_view key;
  int places = 0;
};

constexpr exported all_exported[] = {
    {metric_id::engine_percent, families::engine_utilization, naming::label, "engine",
     from_percent},
    {metric_id::engine_busy_ns, families::engine_busy, naming::label, "engine", from_nanoseconds},
    {metric_id::engine_capacity, families::engines, naming::label, "engine"},
    {metric_id::temperature, families::temperature, naming::component, "temperature"},
    {metric_id::fan_rpm, families::fan_speed, naming::component, "fan"},
    {metric_id::fan_percent, families::fan_speed_ratio, naming::component, "fan", from_percent},
    {metric_id::voltage, families::voltage, naming::component, "voltage"},
    {metric_id::power_watts, families::power_reading, naming::label, "reading"},
    {metric_id::energy_joules, families::energy_reading, naming::label, "reading"},
    {metric_id::power_limit_watts, families::power_limit, naming::label, "limit"},
    {metric_id::clock_mhz, families::clock, naming::label, "clock", from_megahertz},
    {metric_id::clock_limit_mhz, families::clock_limit, naming::label, "clock", from_megahertz},
    {metric_id::throttle_ns, families::throttle_time, naming::label, "reason", from_nanoseconds},
    {metric_id::last_fault, families::last_fault, naming::plain, ""},
    {metric_id::pcie_replays, families::errors, naming::error, "pcie_replay"},
    {metric_id::pcie_rx_bytes, families::gpu_io, naming::direction, "receive"},
    {metric_id::pcie_tx_bytes, families::gpu_io, naming::direction, "transmit"},
    {metric_id::link_rx_bytes, families::link_io, naming::direction, "receive"},
    {metric_id::link_tx_bytes, families::link_io, naming::direction, "transmit"},
};

void add_value(const family& to_family, const label_set& with, const metric& of, int places,
               samples& to) {
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

label_set labels_of(const exported& as, const metric& of, const device_labels& with) {
  const auto instance = instance_text(of);
  if (as.by == naming::component) {
    const bool is_first_fan = as.key == "fan" && instance.empty();
    return with.part(as.key, is_first_fan ? std::string(first_fan) : instance);
  }
  if (as.by == naming::error) return with.whole().with("error_type", as.key);
  if (as.by == naming::label) return with.brief().with(as.key, instance);
  if (as.by == naming::plain) return with.brief();
  const bool is_link = &as.of == &families::link_io;
  label_set directed = is_link ? with.brief() : with.whole();
  if (is_link) directed.add("link", instance);
  return directed.add("network_io_direction", as.key);
}

void add_limit(const metric& of, std::string_view type, const device_labels& with, samples& to) {
  const auto sensor = with.part("temperature", instance_text(of));
  add_value(families::temperature_limit, sensor.with("hw_limit_type", type), of, 0, to);
}

void add_memory_errors(const metric& of, std::string_view type, const device_labels& with,
                       samples& to) {
  const bool is_lifetime = of.instance == HMN_ERA_LIFETIME;
  const auto& errors = is_lifetime ? with.brief() : with.whole();
  add_value(is_lifetime ? families::lifetime_errors : families::errors,
            errors.with("error_type", type), of, 0, to);
}

void add_remapped(const metric& of, const device_labels& with, samples& to) {
  if (of.instance == HMN_REMAPPED_PENDING)
    add_value(families::row_remap_pending, with.brief(), of, 0, to);
  else if (of.instance == HMN_REMAPPED_FAILED)
    add_value(families::row_remap_failed, with.brief(), of, 0, to);
  else
    add_value(families::rows_remapped, with.brief().with("error_type", instance_text(of)), of, 0,
              to);
}

}  // namespace

void collect_metric(const metric& of, const device_labels& with, samples& to) {
  if (of.pid) return;
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
    if (each.id == of.id) add_value(each.of, labels_of(each, of, with), of, each.places, to);
}

}  // namespace hmn::cli
