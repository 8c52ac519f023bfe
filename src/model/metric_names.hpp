// SPDX-License-Identifier: MIT OR Apache-2.0
//
// What metrics and their instances are called, and what they are counted in.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string_view>

#include "model/metric.hpp"
#include "model/short_text.hpp"

namespace hmn {

using metric_word = short_text<12>;

struct metric_words {
  metric_id id;
  short_text<24> name;
  short_text<4> unit;                      // "": a plain number
  std::span<const metric_word> instances;  // [n] names instance n, "" for none; empty: counted
  bool by_bit = false;                     // [n] names instance 1 << n
};

// nullptr: no such metric.
const metric_words* words_of(std::string_view name) noexcept;
const metric_words* words_of(std::uint32_t id) noexcept;
// "" where it has none.
const char* instance_name(std::uint32_t id, std::uint32_t instance) noexcept;

// The instance that is called so; never one for "".
std::optional<std::uint32_t> instance_of(const metric_words& of, std::string_view name) noexcept;

}  // namespace hmn
