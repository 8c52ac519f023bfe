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

// Instances of metrics. 0 is the whole device, or not reported; fans and links count from 1.
namespace which {
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
}  // namespace which

enum class NumberKind : std::uint32_t { HMN_NUMBER_KINDS(HMN_ENUMERATOR) };

// A metric that is missing, in the place of presence bits: one instance of it, or each.
constexpr FieldSet missing_metric(MetricId id) noexcept {
  return static_cast<FieldSet>(id);
}
constexpr FieldSet missing_metric(MetricId id, std::uint32_t instance) noexcept {
  return missing_metric(id) | (FieldSet{instance} + 1) << 32;
}
constexpr std::uint32_t id_of_missing(FieldSet metric) noexcept {
  return static_cast<std::uint32_t>(metric);
}
constexpr std::optional<std::uint32_t> instance_of_missing(FieldSet metric) noexcept {
  if (metric >> 32 == 0) return std::nullopt;
  return static_cast<std::uint32_t>((metric >> 32) - 1);
}

// Single number with its own source. Exactly one of value and count is set.
struct Metric {
  HMN_METRIC_FIELDS(HMN_MEMBER)
};

// Returns whether both are the same quantity of the same instance.
constexpr bool is_same_number(const Metric& a, const Metric& b) {
  return a.id == b.id && a.instance == b.instance;
}

constexpr Metric measured(Source from, MetricId id, std::uint32_t instance, double value) {
  Metric m;
  m.from = from;
  m.id = id;
  m.instance = instance;
  m.value = value;
  return m;
}

constexpr Metric counted(Source from, MetricId id, std::uint32_t instance, std::uint64_t count) {
  Metric m;
  m.from = from;
  m.id = id;
  m.instance = instance;
  m.count = count;
  return m;
}

}  // namespace hmn
