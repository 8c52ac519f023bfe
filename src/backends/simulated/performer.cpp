// SPDX-License-Identifier: MIT OR Apache-2.0
#include "backends/simulated/performer.hpp"

#include "platform/clock.hpp"
#include "platform/file.hpp"

namespace hmn::simulated {
namespace {

constexpr std::uint64_t look_every_ns = 2 * platform::ns_per_ms;

bool covers(call rule, call on) {
  const bool is_driver_call = on >= call::open && on <= call::metrics;
  return rule == on || (rule == call::any && is_driver_call);
}

void wait_through(const delay& d) {
  platform::sleep_ns(d.ns);
  while (d.forever) platform::sleep_ns(platform::ns_per_second);
  while (!d.until.empty() && !platform::exists(d.until.c_str())) platform::sleep_ns(look_every_ns);
}

}  // namespace

void wait_for(const conduct& c, call on, std::uint64_t reading) {
  for (const delay& d : c.delays) {
    if (covers(d.on, on) && d.when.holds(reading)) wait_through(d);
  }
}

const fault* whole_fault(const conduct& c, call on, std::uint64_t reading) noexcept {
  for (const fault& it : c.faults) {
    if (covers(it.on, on) && it.fields == 0 && it.when.holds(reading)) return &it;
  }
  return nullptr;
}

}  // namespace hmn::simulated
