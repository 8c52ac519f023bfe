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
  TelemetryReader(const CallContext& context, const Session& session, const KnownDevice& device,
                  FieldSet fields, Telemetry& telemetry) noexcept
      : DeviceReader(context, session, device, fields), telemetry_(telemetry) {}

  // Reports each missing field that is wanted; fails if all are missing.
  Result<void> read();

 private:
  template <class T, class V>
  void set(std::optional<T>& target, const std::optional<V>& value) {
    if (!value) return;
    target = *value;
    has_any_ = true;
  }
  void read_utilization();
  std::optional<unsigned> read_engine(FieldSet field, const PercentCall& function);
  std::optional<double> read_memory_celsius();
  std::optional<double> read_watts(FieldSet field, const NumberCall& function);
  std::optional<unsigned> read_fan_percent();
  std::optional<unsigned> read_p_state();
  std::optional<std::uint32_t> read_throttle();
  void report_unsupported_fields();

  Telemetry& telemetry_;
  bool has_any_ = false;
};

// Watches devices for faults (Xid). NVML reports a fault only to those registered when it occurs,
// so each device is watched from its first reading on; the wait has no timeout and never blocks.
class FaultWatch {
 public:
  FaultWatch(Session& session, DeviceList& devices) noexcept
      : session_(session), devices_(devices) {}

  struct Answer {
    Code result = success;
    const NamedSymbol* function;
    std::optional<std::uint64_t> last_fault;  // empty: none since the watch began
  };

  // Returns the last fault, also one of an earlier opening, and watches the device from then on.
  Answer read(const CallContext& context, const KnownDevice& device);
  // Collects pending events before an opening ends.
  Code collect_events(const CallContext& context);

 private:
  void begin_watch(const CallContext& context, FaultRecord& record);
  Code register_device(const CallContext& context, FaultRecord& record);
  void record_event(const EventData& event) noexcept;

  Session& session_;
  DeviceList& devices_;
};

// Widens the driver's 32-bit counters. A wrap between two readings may be missed, so they are lower
// bounds. The driver of a new session may count from 0 again.
class WideCounters {
 public:
  std::uint64_t widen(std::uint64_t session, Slot slot, std::uint32_t field, std::uint32_t value);

 private:
  struct Entry {
    Slot slot;
    std::uint32_t field;
    std::uint64_t total;
  };
  std::uint64_t session_ = 0;
  std::vector<Entry> entries_;
};

class MetricReader : public DeviceReader {
 public:
  MetricReader(const CallContext& context, const Session& session, const KnownDevice& device,
               WideCounters& wide_counters, FaultWatch& faults,
               std::vector<Metric>& metrics) noexcept
      : DeviceReader(context, session, device, all_fields),
        wide_counters_(wide_counters),
        faults_(faults),
        metrics_(metrics) {}

  // Reports each missing metric as a diagnostic with its id as field.
  void read(bool include_slow);

 private:
  static constexpr FieldSet all_fields = ~FieldSet{0};
  struct FieldRow;

  Metric* add(MetricId id, std::uint32_t instance, double value);
  Metric* add_count(MetricId id, std::uint32_t instance, std::uint64_t value);
  // Refuses a count above `max`, and one with all bits set.
  void add_checked_count(const NamedSymbol& function, MetricId id, std::uint32_t instance,
                         std::uint64_t value, std::uint64_t max);
  void add_number(const NumberCall& function, MetricId id, std::uint32_t instance, Scale unit);
  void add_indexed(const IndexedCall& function, unsigned index, MetricId id,
                   std::uint32_t instance);
  void add_engine(const PercentCall& function, std::uint32_t engine);

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
  void add_field(const FieldRow& row, const FieldValue& field_value, std::uint32_t instance);

  WideCounters& wide_counters_;
  FaultWatch& faults_;
  std::vector<Metric>& metrics_;
};

}  // namespace hmn::nvml
