// SPDX-License-Identifier: MIT OR Apache-2.0
//
// What macmon printed: a pure function from text to values.
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
  gpu_active,     // percent of the time in which something ran
  gpu_effective,  // the same, each moment counted by its clock's share of the highest
  gpu_clock,
  gpu_power,
  gpu_temperature,
  chip_power,
  board_power,
  memory_power,
  memory_total,
  count,
};

struct figure {
  status why = status::empty;  // ok: there is a value; empty: there is no such key
  double number = 0;
  std::uint64_t whole = 0;  // of bytes
  std::string_view flaw;    // what is wrong with a value that makes no sense
  text<32> key;             // as printed
  text<64> said;            // likewise

  [[nodiscard]] bool has_value() const noexcept { return why == status::ok; }
};

inline constexpr std::size_t most_fans = 16;

struct sample {
  std::array<figure, static_cast<std::size_t>(field::count)> figures;
  std::array<std::optional<double>, most_fans> fans;  // revolutions per minute
  text<96> chip;                                      // empty: not told

  [[nodiscard]] const figure& operator[](field f) const {
    return figures[static_cast<std::size_t>(f)];
  }
};

struct answer {
  std::optional<sample> last;  // whole sample of those printed
  text<160> stray;             // the first other line
};

answer read_answer(std::string_view output);

}  // namespace hmn::macmon
