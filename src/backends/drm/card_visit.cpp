// SPDX-License-Identifier: MIT OR Apache-2.0
#include "backends/drm/card_visit.hpp"

#include "backends/drm/fail.hpp"

namespace hmn::drm {

result<void> card_visit::walk() {
  if (must_sleep(of_, in_.may_wake_)) {
    return failure{status::asleep,
                   of_.by->from(),
                   {},
                   "the device is suspended, and asking what its clients use would wake it"};
  }
  return in_.walk(reading_);
}

result<card_use> card_visit::clients() {
  if (result<void> ok = walk(); !ok) return std::move(ok.why());
  card_use use = use_of(in_.now_, of_.number);
  use.is_partial = use.is_partial || !in_.seen_.is_complete();
  return use;
}

result<card_load> card_visit::load() {
  if (result<void> ok = walk(); !ok) return std::move(ok.why());
  loads_of(in_.now_, in_.before_, of_.number, in_.loads_);
  if (in_.loads_.empty()) return why_no_load();
  return card_load{in_.loads_, in_.now_.taken_ns - in_.before_.taken_ns, !in_.seen_.is_complete()};
}

failure card_visit::why_no_load() const {
  failure why{
      status::unsupported, of_.by->from(), {}, "no process that can be seen uses the device"};
  for (const client& c : in_.now_.all()) {
    if (c.key.card != of_.number) continue;
    if (c.engine_count != 0) return needs_two_readings(of_);
    why.message = "no client of the device tells how busy it keeps its engines";
  }
  return why;
}

void card_visit::remark(failure why, std::uint32_t about, std::uint32_t fields) {
  if (!wants_remarks()) return;
  diagnostic d;
  d.why = std::move(why);
  d.about = about;
  d.field = fields;
  d.device = of_.number;
  reading_.remark(std::move(d));
}

}  // namespace hmn::drm
