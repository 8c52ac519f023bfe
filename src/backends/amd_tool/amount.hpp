// SPDX-License-Identifier: MIT OR Apache-2.0
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include "backends/amd_tool/dialect.hpp"
#include "model/failure.hpp"
#include "model/json.hpp"
#include "model/text.hpp"

namespace hmn::amd_tool {

// Value of a card's key. Kept small: there are many, and most are empty.
struct field_amount {
  status why = status::empty;  // ok: has a value; empty: no such key
  std::uint8_t rank = 0;       // row in the dialect
  bool is_rounded = false;
  double number = 0;
  std::uint64_t whole = 0;  // bytes, hexadecimal; link: generation << 8 | width
  std::string_view flaw;    // why the value is invalid
  reason stated = reason::unknown;
  hmn::text<64> key;    // as printed
  hmn::text<128> text;  // as printed; the value itself for form::text

  [[nodiscard]] bool has_value() const noexcept { return why == status::ok; }
};

// Parses a text, number or {"value", "unit"}. The unit is in the value or in its key; where both
// have one they must agree. Only RPM may lack a unit. MB are 2^20 bytes.
field_amount read_field_amount(form as, const json::value& v, std::string_view unit_of_key);

// Recognizes a missing value: "N/A", "N/A (Secondary die)", "unknown", "".
bool is_word_for_nothing(std::string_view text) noexcept;

std::string lower(std::string_view text);

}  // namespace hmn::amd_tool
