// SPDX-License-Identifier: MIT OR Apache-2.0
//
// Values that are both telemetry and metrics, and what is common to all readers of a device's
// values: a missing one is reported, and some codes end the reading.
#pragma once

#include <cstdint>
#include <optional>

#include "backends/nvml/call.hpp"
#include "backends/nvml/known_device.hpp"
#include "backends/nvml/session.hpp"

namespace hmn::nvml {

// An unsigned long of Windows and of 32-bit Linux has 4 bytes.
constexpr bool is_small(const field_value& v) noexcept {
  return v.type == field_unsigned_int || v.type == field_signed_int ||
         (v.type == field_unsigned_long && sizeof(unsigned long) == 4);
}

constexpr double number_of(const field_value& v) noexcept {
  return is_small(v) ? static_cast<std::int32_t>(v.bits) : static_cast<double>(v.bits);
}

class device_reader {
 public:
  // Returns the code that ended it early: gpu_is_lost, uninitialized; else success.
  [[nodiscard]] code ended_by() const noexcept { return t_.refused; }
  // Returns the call that returned it; without one, the first that had no value.
  [[nodiscard]] const char* failed_from() const noexcept { return first_from_; }

 protected:
  // `fields`: those wanted, as presence bits or, all of them, as ids of metrics.
  device_reader(const topic& t, const session& s, const known_device& of,
                std::uint32_t fields) noexcept
      : t_(t), s_(s), of_(of), fields_(fields) {}

  [[nodiscard]] bool wants(std::uint32_t field) const noexcept { return (fields_ & field) != 0; }
  // Whether the field is wanted and was read. If it is wanted only, it is reported as missing.
  template <class F, class... A>
  bool get(std::uint32_t field, const F& from, A... arguments) {
    return wants(field) && take(call(t_, from, of_.h, arguments...), from, field);
  }
  bool take(code c, const named_symbol& from, std::uint32_t field);
  void refuse(status s, const char* from, const char* why, std::uint32_t field);
  void refuse_value(const named_symbol& from, std::uint32_t field);

  std::optional<unsigned> number(std::uint32_t field, const number_call& from);
  std::optional<unsigned> indexed(std::uint32_t field, const indexed_call& from, unsigned index);
  std::optional<std::uint64_t> wide_number(std::uint32_t field, const wide_call& from);
  bool get_field(std::uint32_t field, field_value& of);
  // Whether it is an integer of a known type.
  bool take_field_value(const field_value& of, std::uint32_t field);
  std::optional<int> celsius(std::uint32_t field);
  std::optional<double> joules(std::uint32_t field);

  topic t_;
  const session& s_;
  const known_device& of_;
  const std::uint32_t fields_;
  code first_code_ = success;
  const char* first_from_ = "";
};

}  // namespace hmn::nvml
