// SPDX-License-Identifier: MIT OR Apache-2.0
#pragma once

#include <cstdint>
#include <optional>

#include "model/failure.hpp"
#include "model/tables.hpp"

namespace hmn {

#define HMN_METRIC_ID(name, number, ...) name = HMN_METRIC_##number,
enum class MetricId : std::uint32_t { unknown = HMN_METRIC_UNKNOWN, HMN_METRICS(HMN_METRIC_ID) };
#undef HMN_METRIC_ID

// Instances of metrics. 0 is the whole device or not reported; fans and links are counted from 1.
namespace metric_instance {
namespace engine {
HMN_ENGINES(HMN_CONSTANT)
}  // namespace engine
namespace sensor {
HMN_SENSORS(HMN_CONSTANT)
}  // namespace sensor
namespace power_reading {
HMN_POWER_READINGS(HMN_CONSTANT)
}  // namespace power_reading
namespace power_limit {
HMN_POWER_LIMITS(HMN_CONSTANT)
}  // namespace power_limit
namespace clock {
HMN_CLOCKS(HMN_CONSTANT)
}  // namespace clock
namespace rail {
HMN_RAILS(HMN_CONSTANT)
}  // namespace rail
namespace era {
HMN_ERAS(HMN_CONSTANT)
}  // namespace era
namespace remapping {
HMN_REMAPPINGS(HMN_CONSTANT)
}  // namespace remapping
}  // namespace metric_instance

enum class NumberKind : std::uint32_t { HMN_NUMBER_KINDS(HMN_ENUMERATOR) };

// Encodes a missing metric in place of presence bits: one instance, or all of them.
constexpr FieldSet missing_metric(MetricId id) noexcept {
  return static_cast<FieldSet>(id);
}
constexpr FieldSet missing_metric(MetricId id, std::uint32_t instance) noexcept {
  return missing_metric(id) | (FieldSet{instance} + 1) << 32;
}
constexpr std::uint32_t missing_metric_id(FieldSet field) noexcept {
  return static_cast<std::uint32_t>(field);
}
constexpr std::optional<std::uint32_t> missing_metric_instance(FieldSet field) noexcept {
  if (field >> 32 == 0) return std::nullopt;
  return static_cast<std::uint32_t>((field >> 32) - 1);
}

// Single number with its own source. Exactly one of value and count is set.
struct Metric {
  HMN_METRIC_FIELDS(HMN_MEMBER)
};

// Returns whether both are the same quantity of the same instance.
constexpr bool is_same_metric(const Metric& a, const Metric& b) {
  return a.id == b.id && a.instance == b.instance;
}

constexpr Metric make_value_metric(Source source, MetricId id, std::uint32_t instance,
                                   double value) {
  Metric metric;
  metric.source = source;
  metric.id = id;
  metric.instance = instance;
  metric.value = value;
  return metric;
}

constexpr Metric make_count_metric(Source source, MetricId id, std::uint32_t instance,
                                   std::uint64_t count) {
  Metric metric;
  metric.source = source;
  metric.id = id;
  metric.instance = instance;
  metric.count = count;
  return metric;
}

}  // namespace hmn
