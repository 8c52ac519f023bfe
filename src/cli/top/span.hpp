// SPDX-License-Identifier: MIT OR Apache-2.0
#pragma once
#include <array>
#include <cstddef>
#include <cstdint>
#include <string_view>

namespace hmn::cli::top {

// Length of time that curves show.
enum class span : unsigned { minute, ten_minutes, hour, day };

struct span_facts {
  std::uint64_t ns;
  std::string_view name;
};
inline constexpr std::array<span_facts, 4> all_spans{{{60'000'000'000, "1 min"},
                                                      {600'000'000'000, "10 min"},
                                                      {3'600'000'000'000, "1 h"},
                                                      {86'400'000'000'000, "24 h"}}};

constexpr const span_facts& facts_of(span of) {
  return all_spans[static_cast<std::size_t>(of)];
}

// Returns the next longer or shorter one; after the last comes the first.
constexpr span next_span(span of, bool longer) {
  const auto step = longer ? 1 : all_spans.size() - 1;
  return static_cast<span>((static_cast<std::size_t>(of) + step) % all_spans.size());
}

// Time that a curve shows: `span` before the latest reading.
struct time_window {
  span of = span::minute;
  std::uint64_t now_ns = 0;
  std::uint64_t hold_ns = 0;  // a value lasts this long unless another one follows
};

}  // namespace hmn::cli::top
