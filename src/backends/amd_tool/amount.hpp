// SPDX-License-Identifier: MIT OR Apache-2.0
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include "backends/amd_tool/dialect.hpp"
#include "model/failure.hpp"
#include "model/json_value.hpp"
#include "model/text.hpp"

namespace hmn::amd_tool {

// What a card's key says. Plain memory: there are many, and most are empty.
struct figure {
  status why = status::empty;  // ok: there is a value; empty: there is no such key
  std::uint8_t rank = 0;       // its row of the dialect
  bool is_rounded = false;
  double number = 0;
  std::uint64_t whole = 0;  // of bytes, hexadecimal, throttle; of link: generation << 8 | width
  std::string_view flaw;    // what is wrong with a value that makes no sense
  hmn::text<64> key;        // as printed
  hmn::text<128> text;      // likewise; of form::text the value itself

  [[nodiscard]] bool has_value() const noexcept { return why == status::ok; }
};

// The figure of a text, number or {"value", "unit"}. A unit stands in the value or in its key,
// where they must agree; without one only a number of revolutions is a number. MB are 2^20 bytes.
figure read_figure(form as, const json::value& v, std::string_view unit_of_key);

// "N/A", "N/A (Secondary die)", "unknown", "": there is no value.
bool is_word_for_nothing(std::string_view text) noexcept;

std::string lower(std::string_view text);

}  // namespace hmn::amd_tool
