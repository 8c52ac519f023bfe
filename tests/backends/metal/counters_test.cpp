// SPDX-License-Identifier: MIT OR Apache-2.0
#include "backends/metal/counters.hpp"

#include <doctest/doctest.h>

#include "platform/clock.hpp"

using namespace hmn::metal;
using hmn::platform::ns_per_ms;

namespace {

const std::vector<double> clocks{400, 800};

Counters make_counters(std::uint64_t time_ms, double joules, std::vector<Residency> states = {}) {
  Counters counters;
  counters.time_ns = time_ms * ns_per_ms;
  counters.joules = joules;
  counters.states = std::move(states);
  return counters;
}

bool mentions(std::string_view text, std::string_view words) {
  return text.find(words) != text.npos;
}

}  // namespace

TEST_CASE("energy is converted from nJ, uJ and mJ only") {
  CHECK(convert_to_joules(2'000'000'000, "nJ") == 2.0);
  CHECK(convert_to_joules(2'000'000, "uJ  ") == 2.0);
  CHECK(convert_to_joules(2'000, "mJ") == 2.0);
  CHECK_FALSE(convert_to_joules(1, "J"));
  CHECK_FALSE(convert_to_joules(1, ""));
  CHECK_FALSE(convert_to_joules(-1, "nJ"));
}

TEST_CASE("power is energy divided by the window") {
  const Rates rates = compute_rates(make_counters(1000, 5), make_counters(1500, 7), {});
  CHECK(rates.watts == 4.0);
  CHECK(rates.window_ns == 500 * ns_per_ms);
}

TEST_CASE("power across a suspend of the machine is absent") {
  Counters after = make_counters(1500, 7);
  after.suspended_ns = 9 * ns_per_ms;
  CHECK(compute_rates(make_counters(1000, 5), after, {}).watts == 4.0);
  after.suspended_ns = 11 * ns_per_ms;
  const Rates rates = compute_rates(make_counters(1000, 5), after, {});
  CHECK_FALSE(rates.watts);
  CHECK(rates.window_ns == 0);
  CHECK(mentions(rates.no_watts_reason, "no earlier reading"));
}

TEST_CASE("a counter that wrapped, jumped or stopped yields no power") {
  const Rates wrapped = compute_rates(make_counters(1000, 5), make_counters(1500, 1), {});
  CHECK_FALSE(wrapped.watts);
  CHECK(mentions(wrapped.no_watts_reason, "started again"));
  const Rates jumped = compute_rates(make_counters(1000, 5), make_counters(1500, 500), {});
  CHECK_FALSE(jumped.watts);
  CHECK(mentions(jumped.no_watts_reason, "jumped"));
  const Rates still = compute_rates(make_counters(1000, 5), make_counters(1500, 5), {});
  CHECK_FALSE(still.watts);
  CHECK(mentions(still.no_watts_reason, "did not advance"));
}

TEST_CASE("energy that is not counted, or in an unknown unit, yields no power") {
  Counters none = make_counters(1500, 0);
  none.joules.reset();
  CHECK(mentions(compute_rates(make_counters(1000, 5), none, {}).no_watts_reason,
                 "counts no energy"));
  none.unknown_unit = "kJ";
  CHECK(mentions(compute_rates(make_counters(1000, 5), none, {}).no_watts_reason, "not known"));
}

TEST_CASE("the clock is averaged over the time in which the GPU ran") {
  const Counters before = make_counters(1000, 1, {{"OFF", 100}, {"P1", 50}, {"P2", 10}});
  const Counters now = make_counters(1500, 2, {{"OFF", 900}, {"P1", 80}, {"P2", 20}});
  CHECK(compute_rates(before, now, clocks).megahertz == (30 * 400.0 + 10 * 800.0) / 40);
}

TEST_CASE("a GPU that did not run has no clock") {
  const Counters before = make_counters(1000, 1, {{"OFF", 100}, {"P1", 50}, {"P2", 10}});
  const Counters now = make_counters(1500, 2, {{"OFF", 900}, {"P1", 50}, {"P2", 10}});
  const Rates rates = compute_rates(before, now, clocks);
  CHECK_FALSE(rates.megahertz);
  CHECK(mentions(rates.no_megahertz_reason, "did not run"));
}

TEST_CASE("states that do not match between readings or clocks yield no clock") {
  const Counters before = make_counters(1000, 1, {{"OFF", 100}, {"P1", 50}, {"P2", 10}});
  SUBCASE("other names") {
    CHECK_FALSE(compute_rates(
                    before, make_counters(1500, 2, {{"OFF", 100}, {"P2", 90}, {"P1", 90}}), clocks)
                    .megahertz);
  }
  SUBCASE("fewer states than before") {
    CHECK_FALSE(compute_rates(before, make_counters(1500, 2, {{"OFF", 100}, {"P1", 90}}), clocks)
                    .megahertz);
  }
  SUBCASE("more states than clocks") {
    const std::vector<double> single_clock{400};
    const Rates rates = compute_rates(
        before, make_counters(1500, 2, {{"OFF", 100}, {"P1", 90}, {"P2", 20}}), single_clock);
    CHECK_FALSE(rates.megahertz);
    CHECK(mentions(rates.no_megahertz_reason, "more or fewer"));
  }
  SUBCASE("a counter that went back") {
    const Rates rates = compute_rates(
        before, make_counters(1500, 2, {{"OFF", 100}, {"P1", 10}, {"P2", 20}}), clocks);
    CHECK_FALSE(rates.megahertz);
    CHECK(mentions(rates.no_megahertz_reason, "started again"));
  }
  SUBCASE("no table of clocks") {
    CHECK_FALSE(
        compute_rates(before, make_counters(1500, 2, {{"OFF", 100}, {"P1", 90}, {"P2", 20}}), {})
            .megahertz);
  }
}

TEST_CASE("a history compares counters that are neither too close nor too far apart") {
  CounterHistory history;
  CHECK(mentions(history.add(make_counters(1000, 1), {}).no_watts_reason, "no earlier reading"));
  CHECK_FALSE(history.add(make_counters(1005, 2), {}).watts);  // 5 ms
  CHECK(history.add(make_counters(1015, 3), {}).window_ns == 15 * ns_per_ms);
  CHECK(history.add(make_counters(2015, 4), {}).window_ns == 1015 * ns_per_ms);
  CHECK_FALSE(history.add(make_counters(2015 + 61'000, 5), {}).watts);
  CHECK(history.add(make_counters(2015 + 62'000, 6), {}).watts == 1.0);
}

TEST_CASE("readings in quick succession keep a window of a hundred milliseconds") {
  CounterHistory history;
  for (std::uint64_t time = 1000; time < 3000; time += 20)
    history.add(make_counters(time, static_cast<double>(time)), {});
  const Rates rates = history.add(make_counters(3000, 3000), {});
  CHECK(rates.window_ns >= 100 * ns_per_ms);
  CHECK(rates.window_ns <= 200 * ns_per_ms);
}

TEST_CASE("after a counter restarted, the next reading has values again") {
  CounterHistory history;
  history.add(make_counters(1000, 9), {});
  CHECK(history.add(make_counters(1050, 1), {}).has_decreased);
  CHECK(history.add(make_counters(1100, 2), {}).watts == 20.0);
}

TEST_CASE("a cleared history starts over") {
  CounterHistory history;
  history.add(make_counters(1000, 1), {});
  history.clear();
  CHECK_FALSE(history.add(make_counters(1500, 3), {}).watts);
}
