// SPDX-License-Identifier: MIT OR Apache-2.0
#include <doctest/doctest.h>

#include <algorithm>
#include <string>
#include <thread>

#include "machine.hpp"
#include "model/metric.hpp"

using namespace hmn;
using namespace drm_test;

namespace {

constexpr std::uint64_t ms = 1'000'000;

std::string info_of(unsigned client, const std::string& engines) {
  return "drm-driver:\tv3d\ndrm-client-id:\t" + std::to_string(client) + "\n" + engines +
         "drm-resident-memory:\t4 KiB\n";
}

std::string busy(const char* engine, std::uint64_t ns) {
  return std::string("drm-engine-") + engine + ":\t" + std::to_string(ns) + " ns\n";
}

const Metric* find(const std::vector<Metric>& all, MetricId id, std::uint32_t instance) {
  const auto at = std::find_if(all.begin(), all.end(), [&](const Metric& m) {
    return m.id == id && m.instance == instance;
  });
  return at == all.end() ? nullptr : &*at;
}

struct V3d {
  V3d() { m.add_platform("fd500000.gpu", "v3d", {card0, render128}); }

  std::vector<Metric> metrics(bool slow, PlainReading& r) {
    std::vector<Metric> all;
    REQUIRE(m.source().prepare(r));
    REQUIRE(m.source().metrics(0, slow, all, r));
    return all;
  }
  // Older than the least age of what a walk is compared with.
  static void wait() { std::this_thread::sleep_for(std::chrono::milliseconds(110)); }

  Machine m;
};

}  // namespace

TEST_CASE("engines of one class are one number, of all clients") {
  V3d card;
  PlainReading r;
  card.m.devices(r);
  card.m.add_process(10, {{3, "/dev/null", info_of(1, busy("render", 0) + busy("bin", 5 * ms))}});
  card.m.add_process(11, {{3, "/dev/null", info_of(2, busy("csd", 7 * ms))}});
  CHECK(card.metrics(true, r).empty());
  CHECK(r.find("two readings: read again") != nullptr);
  V3d::wait();
  card.m.add_process(10,
                     {{3, "/dev/null", info_of(1, busy("render", 4 * ms) + busy("bin", 5 * ms))}});
  card.m.add_process(11, {{3, "/dev/null", info_of(2, busy("csd", 10 * ms))}});
  const auto all = card.metrics(true, r);
  const Metric* const load = find(all, MetricId::engine_percent, which::engine::graphics);
  REQUIRE(load != nullptr);
  REQUIRE(load->window_ns);
  CHECK(*load->window_ns >= 100 * ms);
  const auto window = static_cast<double>(*load->window_ns);
  CHECK(*load->value == doctest::Approx(100.0 * 4 * ms / window / 2));
  CHECK(load->from == Source::drm);
  CHECK(load->notes == 0);
  CHECK(find(all, MetricId::engine_capacity, which::engine::graphics)->count == 2u);
  CHECK(find(all, MetricId::engine_busy_ns, which::engine::graphics)->count == 9 * ms);
  CHECK(find(all, MetricId::engine_busy_ns, which::engine::compute)->count == 10 * ms);
  CHECK(*find(all, MetricId::engine_percent, which::engine::compute)->value ==
        doctest::Approx(100.0 * 3 * ms / window));
  CHECK(find(all, MetricId::engine_percent, which::engine::copy) == nullptr);
}

TEST_CASE("the count of busy time does not fall when a client ends") {
  V3d card;
  PlainReading r;
  card.m.devices(r);
  card.m.add_process(10, {{3, "/dev/null", info_of(1, busy("render", 50 * ms))}});
  card.m.add_process(11, {{3, "/dev/null", info_of(2, busy("render", 7 * ms))}});
  card.metrics(true, r);
  V3d::wait();
  card.m.add_process(11, {{3, "/dev/null", info_of(2, busy("render", 8 * ms))}});
  auto all = card.metrics(true, r);
  const Metric* count = find(all, MetricId::engine_busy_ns, which::engine::graphics);
  CHECK(count->count == 58 * ms);
  CHECK((count->notes & note::lower_bound) != 0);
  V3d::wait();
  card.m.tree().remove("proc/10");
  card.m.add_process(11, {{3, "/dev/null", info_of(2, busy("render", 10 * ms))}});
  all = card.metrics(true, r);
  CHECK(find(all, MetricId::engine_busy_ns, which::engine::graphics)->count == 60 * ms);
}

TEST_CASE("cycles are held against their clock, and shared among the engines of the name") {
  V3d card;
  PlainReading r;
  card.m.devices(r);
  const auto cycles = [](int used, int clock) {
    return "drm-cycles-rcs:\t" + std::to_string(used) + "\ndrm-total-cycles-rcs:\t" +
           std::to_string(clock) + "\ndrm-engine-capacity-rcs:\t2\n";
  };
  card.m.add_process(10, {{3, "/dev/null", info_of(1, cycles(100, 1000))}});
  card.metrics(true, r);
  V3d::wait();
  card.m.add_process(10, {{3, "/dev/null", info_of(1, cycles(400, 2000))}});
  const auto all = card.metrics(true, r);
  CHECK(*find(all, MetricId::engine_percent, which::engine::graphics)->value ==
        doctest::Approx(15.0));
  CHECK(find(all, MetricId::engine_capacity, which::engine::graphics)->count == 2u);
  CHECK(find(all, MetricId::engine_busy_ns, which::engine::graphics) == nullptr);
}

TEST_CASE("the quick numbers do not walk over the processes, but use a walk that was made") {
  V3d card;
  PlainReading r;
  card.m.devices(r);
  card.m.add_process(10, {{3, "/dev/null", info_of(1, busy("render", 0))}});
  card.m.rows(0, r);
  V3d::wait();
  CHECK(card.metrics(false, r).empty());
  std::vector<Usage> rows;
  REQUIRE(card.m.source().processes(0, rows, r));
  std::vector<Metric> all;
  REQUIRE(card.m.source().metrics(0, false, all, r));
  CHECK(find(all, MetricId::engine_percent, which::engine::graphics) != nullptr);
}

TEST_CASE("engines that are not counted have no load, of the device and of its processes") {
  for (const char* driver : {"panfrost", "panthor"}) {
    CAPTURE(driver);
    Machine m;
    m.add_platform("ff9a0000.gpu", driver, {card0, render128});
    m.tree().write("sys/devices/platform/ff9a0000.gpu/profiling", "0\n");
    PlainReading r;
    m.devices(r);
    const auto lines = [](unsigned ns) { return info_of(1, busy("fragment", ns)); };
    m.add_process(10, {{3, "/dev/null", lines(0)}});
    m.rows(0, r);
    V3d::wait();
    const auto rows = m.rows(0, r);
    REQUIRE(rows.size() == 1);
    CHECK(rows[0].used == 4 * kib);
    CHECK_FALSE(rows[0].busy_ns);
    CHECK_FALSE(rows[0].busy_percent);
    CHECK_FALSE(rows[0].kinds);
    const Diagnostic* const why = r.find("profiling is 0");
    REQUIRE(why != nullptr);
    CHECK(why->about == subject::processes);
    std::vector<Metric> all;
    REQUIRE(m.source().metrics(0, true, all, r));
    CHECK(all.empty());
    m.tree().write("sys/devices/platform/ff9a0000.gpu/profiling", "1\n");
    CHECK(m.rows(0, r).at(0).busy_ns == 0u);
  }
}

TEST_CASE("one process that is asked for again has a load since then") {
  V3d card;
  card.m.add_process(10, {{3, "/dev/null", info_of(1, busy("render", 5 * ms))}});
  card.m.add_process(11, {{3, "/dev/null", info_of(2, busy("render", 5 * ms))}});
  hmn_fake::set_self(card.m.tree(), 11);
  bool self = false;
  SUBCASE("another") {}
  SUBCASE("the caller") {
    self = true;
  }
  const std::uint32_t pid = self ? 11 : 10;
  PlainReading r;
  card.m.devices(r);
  Usage first;
  REQUIRE(card.m.source().process(0, pid, self, first, r));
  CHECK_FALSE(first.busy_percent);
  const Diagnostic* const why = r.find("two readings: read again");
  REQUIRE(why != nullptr);
  CHECK(why->field == usage_field::busy_percent);
  CHECK(why->about == (self ? subject::self : subject::processes));
  V3d::wait();
  card.m.add_process(pid, {{3, "/dev/null", info_of(pid - 9, busy("render", 25 * ms))}});
  PlainReading later;
  REQUIRE(card.m.source().prepare(later));
  Usage again;
  REQUIRE(card.m.source().process(0, pid, self, again, later));
  REQUIRE(again.busy_percent);
  REQUIRE(again.window_ns != 0);
  CHECK(again.window_ns >= 100 * ms);
  CHECK(*again.busy_percent ==
        doctest::Approx(100.0 * 20 * ms / static_cast<double>(again.window_ns.value())));
  CHECK(later.find("two readings: read again") == nullptr);
  // What is known of one process is nothing of another.
  Usage other;
  REQUIRE(card.m.source().process(0, self ? 10 : 11, false, other, later));
  CHECK_FALSE(other.busy_percent);
}

TEST_CASE("only so many processes are remembered, and a pid that is given anew is another") {
  drm::AskedProcesses asked;
  constexpr std::uint64_t apart = 100 * ms;
  std::uint64_t now = apart;
  const auto next = [&](std::uint32_t pid) -> drm::AskedProcess& {
    drm::AskedProcess& of = asked.of(pid, false);
    of.begin(now, apart);
    return of;
  };
  for (std::uint32_t pid = 1; pid <= 8; ++pid) {
    ++now;
    next(pid).walks.now().taken_ns = now;
  }
  now += apart;
  CHECK(next(1).walks.before().taken_ns == apart + 1);
  next(1).walks.now().taken_ns = now;
  CHECK(next(9).walks.before().taken_ns == 0);  // instead of 2
  CHECK(next(1).walks.before().taken_ns == apart + 1);
  CHECK(next(3).walks.before().taken_ns == apart + 3);
  CHECK(next(2).walks.before().taken_ns == 0);
  asked.forget();
  CHECK(next(1).walks.before().taken_ns == 0);
}
