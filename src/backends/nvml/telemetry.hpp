// SPDX-License-Identifier: MIT OR Apache-2.0
//
// Load, temperature, power and clocks of a device.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <vector>

#include "backends/nvml/call.hpp"
#include "backends/nvml/device.hpp"
#include "backends/nvml/device_list.hpp"
#include "backends/nvml/session.hpp"
#include "model/metric.hpp"
#include "model/scale.hpp"
#include "model/telemetry.hpp"

namespace hmn::nvml {

class TelemetryReader : public DeviceReader {
 public:
  TelemetryReader(const Topic& t, const Session& s, const KnownDevice& of, FieldSet fields,
                  Telemetry& out) noexcept
      : DeviceReader(t, s, of, fields), out_(out) {}

  // Reports each missing field that is wanted; fails if all are missing.
  Result<void> read();

 private:
  template <class T, class V>
  void set(std::optional<T>& out, const std::optional<V>& value) {
    if (!value) return;
    out = *value;
    any_ = true;
  }
  void read_utilization();
  std::optional<unsigned> engine(FieldSet field, const PercentCall& from);
  std::optional<double> memory_celsius();
  std::optional<double> watts(FieldSet field, const NumberCall& from);
  std::optional<unsigned> fan_percent();
  std::optional<unsigned> p_state();
  std::optional<std::uint32_t> throttle();
  void refuse_what_nvml_lacks();

  Telemetry& out_;
  bool any_ = false;
};

// Watches devices for faults (Xid). NVML reports a fault only to those registered when it occurs,
// so each device is watched from its first reading on; the wait has no timeout and never blocks.
class FaultWatch {
 public:
  FaultWatch(Session& s, DeviceList& devices) noexcept : s_(s), devices_(devices) {}

  struct Answer {
    Code result = success;
    const NamedSymbol* from;
    std::optional<std::uint64_t> last;  // nothing: none since the watch began
  };

  // Returns the last fault, also one of an earlier opening, and watches the device from then on.
  Answer read(const Topic& t, const KnownDevice& of);
  // Collects pending events before an opening ends.
  Code take_down(const Topic& t);

 private:
  void begin(const Topic& t, KnownFaults& w);
  Code enter(const Topic& t, KnownFaults& w);
  void take_down(const EventData& reported) noexcept;

  Session& s_;
  DeviceList& devices_;
};

// Widens the driver's 32-bit counters. A wrap between two readings may be missed, so they are lower
// bounds. The driver of a new session may count from 0 again.
class WideCounts {
 public:
  std::uint64_t widen(std::uint64_t session, Slot number, std::uint32_t field,
                      std::uint32_t reported);

 private:
  struct Entry {
    Slot number;
    std::uint32_t field;
    std::uint64_t total;
  };
  std::uint64_t session_ = 0;
  std::vector<Entry> entries_;
};

class MetricReader : public DeviceReader {
 public:
  MetricReader(const Topic& t, const Session& s, const KnownDevice& of, WideCounts& wide,
               FaultWatch& faults, std::vector<Metric>& out) noexcept
      : DeviceReader(t, s, of, all_fields), wide_(wide), faults_(faults), out_(out) {}

  // Reports each missing metric as a diagnostic with its id as field.
  void read(bool slow);

 private:
  static constexpr FieldSet all_fields = ~FieldSet{0};
  struct FieldRow;

  Metric* add(MetricId id, std::uint32_t instance, double value);
  Metric* count(MetricId id, std::uint32_t instance, std::uint64_t reported);
  // Refuses a count above `most`, and one with all bits set.
  void count_of(const NamedSymbol& from, MetricId id, std::uint32_t instance,
                std::uint64_t reported, std::uint64_t most);
  void add_number(const NumberCall& from, MetricId id, std::uint32_t instance, Scale unit);
  void add_indexed(const IndexedCall& from, unsigned n, MetricId id, std::uint32_t instance);
  void add_engine(const PercentCall& from, std::uint32_t engine);

  void read_fault();
  void read_load();
  void read_temperatures();
  void read_power();
  void read_clocks();
  void read_fans();
  void read_errors();
  // `link`: number of an NVLink, else 0.
  void read_fields(std::span<const FieldRow> rows, std::uint32_t link = 0);
  void read_links();
  void take_field(const FieldRow& row, const FieldValue& reported, std::uint32_t instance);

  WideCounts& wide_;
  FaultWatch& faults_;
  std::vector<Metric>& out_;
};

}  // namespace hmn::nvml
