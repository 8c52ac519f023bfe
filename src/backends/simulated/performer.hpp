// SPDX-License-Identifier: MIT OR Apache-2.0
//
// Fault player: delays and fails calls as the file requests.
#pragma once

#include <cstdint>

#include "backends/simulated/machine.hpp"

namespace hmn::simulated {

inline failure refusal(status code, const message_text& message) {
  return {code, source::simulated, {}, message};
}

void wait_for(const conduct& c, call on, std::uint64_t reading);

// Returns the fault that fails the whole call, if any.
const fault* whole_fault(const conduct& c, call on, std::uint64_t reading) noexcept;

// Calls f(fault) for each fault that removes single fields of this call.
template <class F>
void each_field_fault(const conduct& c, call on, std::uint64_t reading, F f) {
  for (const fault& it : c.faults) {
    if (it.on == on && it.fields != 0 && it.when.holds(reading)) f(it);
  }
}

}  // namespace hmn::simulated
