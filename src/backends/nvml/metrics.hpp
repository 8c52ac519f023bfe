// SPDX-License-Identifier: MIT OR Apache-2.0
//
// Metrics of a device.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "backends/nvml/device_reader.hpp"
#include "backends/nvml/fault_watch.hpp"
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

class metric_reader : public device_reader {
 public:
  metric_reader(const topic& t, const session& s, const known_device& of, wide_counts& wide,
                fault_watch& faults, std::vector<metric>& out) noexcept
      : device_reader(t, s, of, all_fields), wide_(wide), faults_(faults), out_(out) {}

  // Reports each missing metric as a diagnostic with its id as field.
  void read(bool slow);

 private:
  static constexpr std::uint32_t all_fields = UINT32_MAX;
  struct field_row;

  metric* add(metric_id id, std::uint32_t instance, double value);
  metric* count(metric_id id, std::uint32_t instance, std::uint64_t reported);
  // Refuses more than `most`; all bits are no count either.
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
