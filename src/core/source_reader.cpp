// SPDX-License-Identifier: MIT OR Apache-2.0
#include "core/source_reader.hpp"

#include <algorithm>

namespace hmn {
namespace {

// A driver that is loaded, and a first card that is plugged in, may be seen this late: a look would
// cost a reading of the host's memory more than that itself.
constexpr std::uint64_t recheck_ns = platform::ns_per_second;

bool is_young(const device_reply& d, const plan& p, std::uint64_t since) {
  const bool telemetry_fits = (p.telemetry & ~d.telemetry_asked) == 0;
  return (!p.pools || d.pools.tried_ns >= since) && (!p.self || d.self.tried_ns >= since) &&
         (!p.processes || d.processes.tried_ns >= since) &&
         (p.pid == 0 || (d.process.tried_ns >= since && d.process.value.pid == p.pid)) &&
         (p.telemetry == 0 || (d.telemetry.tried_ns >= since && telemetry_fits)) &&
         (!p.metrics || (d.metrics.tried_ns >= since && (d.slow_asked || !p.slow)));
}

}  // namespace

source_reader::source_reader(listed_source listed, const settings& s, const limits& l)
    : limits_(l), stands_in_for_(listed.stands_in_for), lane_(std::move(listed.device), s) {}

result<void> source_reader::run(const plan& p, budget& b, look at) {
  const std::uint64_t begun = platform::monotonic_ns();
  const timed_guard turn(turn_, b.until());
  if (!turn) {
    show(at, {begun, true});
    return is_opening() ? still_opening() : too_late();
  }
  if (is_young_enough(p, begun)) {
    show(at, {young_since(begun), false});
    return outcome_of_last();
  }
  result<void> asked = ask(p, b, begun);
  show(at, {begun, !asked});
  return asked ? outcome_of_last() : asked;
}

void source_reader::show(look at, const moment& m) {
  lane_.board().look<void>([&](const reply& known) { at(known, m); });
}

bool source_reader::is_young_enough(const plan& p, std::uint64_t now) {
  if (limits_.max_age_ns == 0 || p.describe) return false;
  const std::uint64_t since = young_since(now);
  return lane_.board().look<bool>([&](const reply& known) {
    if (known.refused || known.listed_ns == 0 || (p.list && known.listed_ns < since)) return false;
    return std::ranges::all_of(known.devices, [&](const device_reply& d) {
      const bool wanted = p.only ? d.identity.number == *p.only : d.listed;
      return !wanted || is_young(d, p, since);
    });
  });
}

// A source that has served is not looked for again.
bool source_reader::must_probe() {
  return lane_.board().look<bool>(
      [](const reply& known) { return known.refused || known.listed_ns == 0; });
}

bool source_reader::is_here(std::uint64_t now) {
  if (!lane_.is_idle() || !must_probe()) return true;
  if (absent_since_ns_ != 0 && now - absent_since_ns_ < recheck_ns) return false;
  result<void> here = lane_.probe();
  absent_since_ns_ = here ? 0 : now;
  if (!here) lane_.board().refuse(std::move(here.why()));
  return static_cast<bool>(here);
}

result<void> source_reader::ask(const plan& p, budget& b, std::uint64_t now) {
  if (!is_here(now)) return {};
  const bool was_opening = lane_.is_opening();
  switch (lane_.run(p, b)) {
    case lane::outcome::done:
      return {};
    case lane::outcome::late:
      return is_opening() ? still_opening() : too_late();
    case lane::outcome::busy:
      return was_opening ? still_opening() : too_late();
    case lane::outcome::no_thread:
      break;
  }
  return failure{status::limit, id(), {}, "no thread could be started to ask the driver on"};
}

result<void> source_reader::outcome_of_last() {
  return lane_.board().look<result<void>>([](const reply& known) {
    return known.refused ? result<void>(*known.refused) : result<void>();
  });
}

failure source_reader::too_late() const {
  return {status::timeout, id(), {}, "the driver did not answer within the deadline"};
}

failure source_reader::still_opening() const {
  return {
      status::timeout,
      id(),
      {},
      "the driver is still being opened; persistence mode (nvidia-persistenced) keeps it ready"};
}

}  // namespace hmn
