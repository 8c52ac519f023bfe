// SPDX-License-Identifier: MIT OR Apache-2.0
#include "backends/metal/counters.hpp"

#include <doctest/doctest.h>

#include "platform/clock.hpp"

using namespace hmn::metal;
using hmn::platform::ns_per_ms;

namespace {

const std::vector<double> clocks{400, 800};

Counters look(std::uint64_t at_ms, double joules, std::vector<Residency> states = {}) {
  Counters c;
  c.at_ns = at_ms * ns_per_ms;
  c.joules = joules;
  c.states = std::move(states);
  return c;
}

bool says(std::string_view why, std::string_view words) {
  return why.find(words) != why.npos;
}

}  // namespace

TEST_CASE("units of energy") {
  CHECK(joules_of(2'000'000'000, "nJ") == 2.0);
  CHECK(joules_of(2'000'000, "uJ  ") == 2.0);
  CHECK(joules_of(2'000, "mJ") == 2.0);
  CHECK_FALSE(joules_of(1, "J"));
  CHECK_FALSE(joules_of(1, ""));
  CHECK_FALSE(joules_of(-1, "nJ"));
}

TEST_CASE("power is energy over the window") {
  const Rates r = compare(look(1000, 5), look(1500, 7), {});
  CHECK(r.watts == 4.0);
  CHECK(r.window_ns == 500 * ns_per_ms);
}

TEST_CASE("power across a suspend of the machine is absent") {
  Counters after = look(1500, 7);
  after.suspended_ns = 9 * ns_per_ms;
  CHECK(compare(look(1000, 5), after, {}).watts == 4.0);
  after.suspended_ns = 11 * ns_per_ms;
  const Rates r = compare(look(1000, 5), after, {});
  CHECK_FALSE(r.watts);
  CHECK(r.window_ns == 0);
  CHECK(says(r.no_watts, "no earlier reading"));
}

TEST_CASE("a counter that wrapped, jumped or stands still tells no power") {
  const Rates wrapped = compare(look(1000, 5), look(1500, 1), {});
  CHECK_FALSE(wrapped.watts);
  CHECK(says(wrapped.no_watts, "started again"));
  const Rates jumped = compare(look(1000, 5), look(1500, 500), {});
  CHECK_FALSE(jumped.watts);
  CHECK(says(jumped.no_watts, "jumped"));
  const Rates still = compare(look(1000, 5), look(1500, 5), {});
  CHECK_FALSE(still.watts);
  CHECK(says(still.no_watts, "stands still"));
}

TEST_CASE("an energy that is not counted, or in an unknown unit") {
  Counters none = look(1500, 0);
  none.joules.reset();
  CHECK(says(compare(look(1000, 5), none, {}).no_watts, "counts no energy"));
  none.odd_unit = "kJ";
  CHECK(says(compare(look(1000, 5), none, {}).no_watts, "not known"));
}

TEST_CASE("the clock is that of the time in which it ran") {
  const Counters before = look(1000, 1, {{"OFF", 100}, {"P1", 50}, {"P2", 10}});
  const Counters now = look(1500, 2, {{"OFF", 900}, {"P1", 80}, {"P2", 20}});
  CHECK(compare(before, now, clocks).megahertz == (30 * 400.0 + 10 * 800.0) / 40);
}

TEST_CASE("a GPU that did not run has no clock") {
  const Counters before = look(1000, 1, {{"OFF", 100}, {"P1", 50}, {"P2", 10}});
  const Counters now = look(1500, 2, {{"OFF", 900}, {"P1", 50}, {"P2", 10}});
  const Rates r = compare(before, now, clocks);
  CHECK_FALSE(r.megahertz);
  CHECK(says(r.no_megahertz, "did not run"));
}

TEST_CASE("states that cannot be told apart give no clock") {
  const Counters before = look(1000, 1, {{"OFF", 100}, {"P1", 50}, {"P2", 10}});
  SUBCASE("other names") {
    CHECK_FALSE(
        compare(before, look(1500, 2, {{"OFF", 100}, {"P2", 90}, {"P1", 90}}), clocks).megahertz);
  }
  SUBCASE("fewer states than before") {
    CHECK_FALSE(compare(before, look(1500, 2, {{"OFF", 100}, {"P1", 90}}), clocks).megahertz);
  }
  SUBCASE("more states than clocks") {
    const std::vector<double> one{400};
    const Rates r = compare(before, look(1500, 2, {{"OFF", 100}, {"P1", 90}, {"P2", 20}}), one);
    CHECK_FALSE(r.megahertz);
    CHECK(says(r.no_megahertz, "more or fewer"));
  }
  SUBCASE("a counter that went back") {
    const Rates r = compare(before, look(1500, 2, {{"OFF", 100}, {"P1", 10}, {"P2", 20}}), clocks);
    CHECK_FALSE(r.megahertz);
    CHECK(says(r.no_megahertz, "started again"));
  }
  SUBCASE("no table of clocks") {
    CHECK_FALSE(
        compare(before, look(1500, 2, {{"OFF", 100}, {"P1", 90}, {"P2", 20}}), {}).megahertz);
  }
}

TEST_CASE("a history compares looks that are neither too near nor too far") {
  CounterHistory h;
  CHECK(says(h.add(look(1000, 1), {}).no_watts, "no earlier reading"));
  CHECK_FALSE(h.add(look(1005, 2), {}).watts);  // 5 ms
  CHECK(h.add(look(1015, 3), {}).window_ns == 15 * ns_per_ms);
  CHECK(h.add(look(2015, 4), {}).window_ns == 1015 * ns_per_ms);
  CHECK_FALSE(h.add(look(2015 + 61'000, 5), {}).watts);
  CHECK(h.add(look(2015 + 62'000, 6), {}).watts == 1.0);
}

TEST_CASE("readings in quick succession keep a window of a hundred milliseconds") {
  CounterHistory h;
  for (std::uint64_t at = 1000; at < 3000; at += 20) h.add(look(at, static_cast<double>(at)), {});
  const Rates r = h.add(look(3000, 3000), {});
  CHECK(r.window_ns >= 100 * ns_per_ms);
  CHECK(r.window_ns <= 200 * ns_per_ms);
}

TEST_CASE("after a counter went back the next reading counts again") {
  CounterHistory h;
  h.add(look(1000, 9), {});
  CHECK(h.add(look(1050, 1), {}).went_back);
  CHECK(h.add(look(1100, 2), {}).watts == 20.0);
}

TEST_CASE("a history that is cleared begins anew") {
  CounterHistory h;
  h.add(look(1000, 1), {});
  h.clear();
  CHECK_FALSE(h.add(look(1500, 3), {}).watts);
}
