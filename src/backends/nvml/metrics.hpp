// SPDX-License-Identifier: MIT OR Apache-2.0
//
// Metrics of a device.
#pragma once

#include <cstdint>
#include <vector>

#include "backends/nvml/call.hpp"
#include "backends/nvml/fault_watch.hpp"
#include "backends/nvml/known_device.hpp"
#include "backends/nvml/session.hpp"
#include "model/metric.hpp"
#include "model/scale.hpp"

namespace hmn::nvml {

// Widens 32-bit counters of the driver: a wrap between two readings may be missed, so they are
// lower bounds. The driver of a new session may count from 0 again.
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

class metric_reader {
 public:
  metric_reader(const topic& t, const session& s, const known_device& of, wide_counts& wide,
                fault_watch& faults, std::vector<metric>& out) noexcept
      : t_(t), s_(s), of_(of), wide_(wide), faults_(faults), out_(out) {}

  // Reports each missing metric as a diagnostic with its id as field.
  void read(bool slow);
  // Returns the code that ended it early: gpu_is_lost, uninitialized; else success.
  [[nodiscard]] code ended_by() const noexcept { return ended_by_; }
  // Returns the call that returned it.
  [[nodiscard]] const char* ended_from() const noexcept { return ended_from_; }

 private:
  struct field_row;

  template <class F, class... A>
  code ask(const F& from, A... arguments) {
    return ended_by_ != success ? ended_by_ : call(t_, from, of_.h, arguments...);
  }
  bool take(code c, const char* from, metric_id id);
  void refuse(const char* from, metric_id id);
  metric* add(metric_id id, std::uint32_t instance, double value);
  metric* count(metric_id id, std::uint32_t instance, std::uint64_t reported);
  // Refuses more than `most`; all bits are no count either.
  void count_of(const char* from, metric_id id, std::uint32_t instance, std::uint64_t reported,
                std::uint64_t most);
  void number(const number_call& from, metric_id id, std::uint32_t instance, scale unit);
  void indexed(const indexed_call& from, unsigned n, metric_id id, std::uint32_t instance);
  void add_percent(std::uint32_t engine, unsigned reported, unsigned period_us);

  void read_fault();
  void read_load();
  void read_temperatures();
  void read_power();
  void read_energy();
  void read_clocks();
  void read_fans();
  void read_errors();
  void read_fields();
  void read_slow_fields();
  void read_links();
  void take_field(const field_row& row, const field_value& reported, std::uint32_t instance);

  const topic& t_;
  const session& s_;
  const known_device& of_;
  wide_counts& wide_;
  fault_watch& faults_;
  std::vector<metric>& out_;
  code ended_by_ = success;
  const char* ended_from_ = "";
};

}  // namespace hmn::nvml
