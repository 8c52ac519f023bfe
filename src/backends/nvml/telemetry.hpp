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

class telemetry_reader : public device_reader {
 public:
  telemetry_reader(const topic& t, const session& s, const known_device& of, FieldSet fields,
                   telemetry& out) noexcept
      : device_reader(t, s, of, fields), out_(out) {}

  // Reports each missing field that is wanted; fails if all are missing.
  result<void> read();

 private:
  template <class T, class V>
  void set(std::optional<T>& out, const std::optional<V>& value) {
    if (!value) return;
    out = *value;
    any_ = true;
  }
  void read_utilization();
  std::optional<unsigned> engine(FieldSet field, const percent_call& from);
  std::optional<double> memory_celsius();
  std::optional<double> watts(FieldSet field, const number_call& from);
  std::optional<unsigned> fan_percent();
  std::optional<unsigned> p_state();
  std::optional<std::uint32_t> throttle();
  void refuse_what_nvml_lacks();

  telemetry& out_;
  bool any_ = false;
};

// Watches devices for faults (Xid). NVML reports a fault only to those registered when it occurs,
// so each device is watched from its first reading on; the wait has no timeout and never blocks.
class fault_watch {
 public:
  fault_watch(session& s, device_list& devices) noexcept : s_(s), devices_(devices) {}

  struct answer {
    code result = success;
    const named_symbol* from;
    std::optional<std::uint64_t> last;  // nothing: none since the watch began
  };

  // Returns the last fault, also one of an earlier opening, and watches the device from then on.
  answer read(const topic& t, const known_device& of);
  // Collects pending events before an opening ends.
  code take_down(const topic& t);

 private:
  void begin(const topic& t, known_faults& w);
  code enter(const topic& t, known_faults& w);
  void take_down(const event_data& reported) noexcept;

  session& s_;
  device_list& devices_;
};

// Widens the driver's 32-bit counters. A wrap between two readings may be missed, so they are lower
// bounds. The driver of a new session may count from 0 again.
class wide_counts {
 public:
  std::uint64_t widen(std::uint64_t session, slot number, std::uint32_t field,
                      std::uint32_t reported);

 private:
  struct entry {
    slot number;
    std::uint32_t field;
    std::uint64_t total;
  };
  std::uint64_t session_ = 0;
  std::vector<entry> entries_;
};

class metric_reader : public device_reader {
 public:
  metric_reader(const topic& t, const session& s, const known_device& of, wide_counts& wide,
                fault_watch& faults, std::vector<metric>& out) noexcept
      : device_reader(t, s, of, all_fields), wide_(wide), faults_(faults), out_(out) {}

  // Reports each missing metric as a diagnostic with its id as field.
  void read(bool slow);

 private:
  static constexpr FieldSet all_fields = ~FieldSet{0};
  struct field_row;

  metric* add(metric_id id, std::uint32_t instance, double value);
  metric* count(metric_id id, std::uint32_t instance, std::uint64_t reported);
  // Refuses a count above `most`, and one with all bits set.
  void count_of(const named_symbol& from, metric_id id, std::uint32_t instance,
                std::uint64_t reported, std::uint64_t most);
  void add_number(const number_call& from, metric_id id, std::uint32_t instance, scale unit);
  void add_indexed(const indexed_call& from, unsigned n, metric_id id, std::uint32_t instance);
  void add_engine(const percent_call& from, std::uint32_t engine);

  void read_fault();
  void read_load();
  void read_temperatures();
  void read_power();
  void read_clocks();
  void read_fans();
  void read_errors();
  // `link`: number of an NVLink, else 0.
  void read_fields(std::span<const field_row> rows, std::uint32_t link = 0);
  void read_links();
  void take_field(const field_row& row, const field_value& reported, std::uint32_t instance);

  wide_counts& wide_;
  fault_watch& faults_;
  std::vector<metric>& out_;
};

}  // namespace hmn::nvml
