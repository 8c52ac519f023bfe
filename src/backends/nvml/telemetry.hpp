// SPDX-License-Identifier: MIT OR Apache-2.0
//
// Load, temperature, power and clocks of a device.
#pragma once

#include <cstdint>
#include <optional>

#include "backends/nvml/device_reader.hpp"
#include "model/telemetry.hpp"

namespace hmn::nvml {

// Pure. Converts NVML's clock event reasons to `throttle` bits.
std::uint32_t throttle_bits(std::uint64_t reasons) noexcept;

class telemetry_reader : public device_reader {
 public:
  telemetry_reader(const topic& t, const session& s, const known_device& of, std::uint32_t fields,
                   telemetry& out) noexcept
      : device_reader(t, s, of, fields), out_(out) {}

  // Reports each missing wanted field; fails if all are missing.
  result<void> read();

 private:
  template <class T, class V>
  void set(std::optional<T>& out, const std::optional<V>& value) {
    if (!value) return;
    out = *value;
    any_ = true;
  }
  void read_utilization();
  std::optional<unsigned> engine(std::uint32_t field, const percent_call& from);
  std::optional<double> memory_celsius();
  std::optional<double> watts(std::uint32_t field, const number_call& from);
  std::optional<unsigned> fan_percent();
  std::optional<unsigned> p_state();
  std::optional<std::uint32_t> throttle();
  void refuse_what_nvml_lacks();

  telemetry& out_;
  bool any_ = false;
};

}  // namespace hmn::nvml
