// SPDX-License-Identifier: MIT OR Apache-2.0
#include "backends/nvml/fault_watch.hpp"

namespace hmn::nvml {
namespace {

constexpr unsigned most_events = 256;  // per reading; the next one continues

}  // namespace

fault_watch::answer fault_watch::read(const topic& t, const known_device& of) {
  known_faults& w = devices_.find(of.identity.number)->faults;
  if (w.h != of.h) w.session = 0;
  w.h = of.h;
  if (w.session != s_.number()) begin(t, w);
  if (w.result != success) return {w.result, w.from, w.last};
  const code c = take_down(t);
  return {c, &s_.fn.wait_for_event, w.last};
}

void fault_watch::begin(const topic& t, known_faults& w) {
  w.session = s_.number();
  unsigned long long types = 0;
  w.from = &s_.fn.event_types;
  w.result = call(t, s_.fn.event_types, w.h, &types);
  if (w.result == success && (types & event_xid) == 0) w.result = not_offered;
  if (w.result == success) w.result = enter(t, w);
  if (w.result == late) w.session = 0;
}

code fault_watch::enter(const topic& t, known_faults& w) {
  if (s_.events == nullptr) {
    w.from = &s_.fn.create_events;
    if (const code c = call(t, s_.fn.create_events, &s_.events); c != success) return c;
  }
  w.from = &s_.fn.register_events;
  const unsigned long long types = event_xid;
  const code c = call(t, s_.fn.register_events, w.h, types, s_.events);
  if (c != unknown) return c;
  // Event sets are then unusable, according to NVML's documentation.
  s_.free_events();
  for (known_device& other : devices_.all()) {
    if (&other.faults != &w) other.faults.session = 0;
  }
  return c;
}

code fault_watch::take_down(const topic& t) {
  code c = s_.events != nullptr ? success : timed_out;
  for (unsigned n = 0; n < most_events && c == success; ++n) {
    event_data reported{};
    const unsigned at_once = 0;
    c = call(t, s_.fn.wait_for_event, s_.events, &reported, at_once);
    if (c == success) take_down(reported);
  }
  return c == timed_out ? success : c;
}

void fault_watch::take_down(const event_data& reported) noexcept {
  if ((reported.type & event_xid) == 0) return;
  for (known_device& d : devices_.all()) {
    known_faults& w = d.faults;
    if (w.h == reported.device && w.session == s_.number()) w.last = reported.data;
  }
}

}  // namespace hmn::nvml
