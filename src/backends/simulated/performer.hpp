// SPDX-License-Identifier: MIT OR Apache-2.0
//
// Makes calls as slow as the file says, and lets those fail that it lets fail.
#pragma once

#include <cstdint>

#include "backends/simulated/machine.hpp"

namespace hmn::simulated {

inline failure refusal(status code, const message_text& message) {
  return {code, source::simulated, {}, message};
}

void wait_for(const conduct& c, call on, std::uint64_t reading);

// The fault that fails this call as a whole, if any.
const fault* whole_fault(const conduct& c, call on, std::uint64_t reading) noexcept;

// Calls f(fault) for each that costs single fields of this call.
template <class F>
void each_field_fault(const conduct& c, call on, std::uint64_t reading, F f) {
  for (const fault& it : c.faults) {
    if (it.on == on && it.fields != 0 && it.when.holds(reading)) f(it);
  }
}

}  // namespace hmn::simulated
