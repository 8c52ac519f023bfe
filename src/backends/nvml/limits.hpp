// SPDX-License-Identifier: MIT OR Apache-2.0
//
// Units, and a helper for values with two calls.
#pragma once

#include <algorithm>
#include <climits>

#include "backends/nvml/call.hpp"
#include "backends/nvml/session.hpp"
#include "model/scale.hpp"

namespace hmn::nvml {

inline constexpr std::uint64_t ns_per_us = 1000;

// Whether no further query of the device makes sense in this reading.
constexpr bool ends_it(code c) noexcept {
  return c == gpu_is_lost || c == uninitialized || c == reset_required || c == late;
}

// Uses the newer call, else the older one. `ask(function, arguments…)` makes a call.
template <class Ask>
code ask_temperature(Ask&& ask, const session& s, int& celsius, const char*& name) {
  temperature_v1 newer{temperature_version, temperature_gpu, 0};
  temperature_v1* const to = &newer;
  name = s.fn.temperature_v.name();
  code c = ask(s.fn.temperature_v, to);
  if (c != success && !ends_it(c)) {
    unsigned older = 0;
    unsigned* const to_older = &older;
    const unsigned which = temperature_gpu;
    name = s.fn.temperature.name();
    c = ask(s.fn.temperature, which, to_older);
    newer.celsius = static_cast<int>(std::min<unsigned>(older, INT_MAX));
  }
  celsius = newer.celsius;
  return c;
}

}  // namespace hmn::nvml
