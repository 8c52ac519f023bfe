// SPDX-License-Identifier: MIT OR Apache-2.0
//
// Parser of macmon's output: a pure function from text to values.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <string_view>

#include "model/failure.hpp"
#include "model/text.hpp"

namespace hmn::macmon {

enum class Field : std::uint8_t {
  gpu_active,     // percent of time with activity
  gpu_effective,  // the same, weighted by the ratio of clock to maximum clock
  gpu_clock,
  gpu_power,
  gpu_temperature,
  chip_power,
  board_power,
  memory_power,
  memory_total,
  count,
};

struct FieldAmount {
  Status status = Status::empty;  // ok: has a value; empty: no such key
  double number = 0;
  std::uint64_t whole = 0;  // in bytes
  std::string_view flaw;    // why the value is invalid
  Text<32> key;             // as printed
  Text<64> text;            // as printed

  [[nodiscard]] bool has_value() const noexcept { return status == Status::ok; }
};

inline constexpr std::size_t max_fans = 16;

struct Sample {
  std::array<FieldAmount, static_cast<std::size_t>(Field::count)> amounts;
  std::array<FieldAmount, max_fans> fans;  // RPM
  Text<96> chip;                           // empty: unknown

  [[nodiscard]] const FieldAmount& operator[](Field f) const {
    return amounts[static_cast<std::size_t>(f)];
  }
};

struct Answer {
  std::optional<Sample> last;  // last complete sample
  Text<160> stray;             // first unknown line
};

Answer read_answer(std::string_view output);

}  // namespace hmn::macmon
