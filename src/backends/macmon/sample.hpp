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

enum class field : std::uint8_t {
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

struct field_amount {
  status why = status::empty;  // ok: has a value; empty: no such key
  double number = 0;
  std::uint64_t whole = 0;  // in bytes
  std::string_view flaw;    // why the value is invalid
  text<32> key;             // as printed
  text<64> said;            // as printed

  [[nodiscard]] bool has_value() const noexcept { return why == status::ok; }
};

inline constexpr std::size_t most_fans = 16;

struct sample {
  std::array<field_amount, static_cast<std::size_t>(field::count)> amounts;
  std::array<field_amount, most_fans> fans;  // RPM
  text<96> chip;                             // empty: unknown

  [[nodiscard]] const field_amount& operator[](field f) const {
    return amounts[static_cast<std::size_t>(f)];
  }
};

struct answer {
  std::optional<sample> last;  // last complete sample
  text<160> stray;             // first unknown line
};

answer read_answer(std::string_view output);

}  // namespace hmn::macmon
