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

std::string format_info(unsigned client, const std::string& engines) {
  return "drm-driver:\tv3d\ndrm-client-id:\t" + std::to_string(client) + "\n" + engines +
         "drm-resident-memory:\t4 KiB\n";
}

std::string format_busy(const char* engine, std::uint64_t ns) {
  return std::string("drm-engine-") + engine + ":\t" + std::to_string(ns) + " ns\n";
}

const Metric* find(const std::vector<Metric>& metrics, MetricId id, std::uint32_t instance) {
  const auto it = std::find_if(metrics.begin(), metrics.end(), [&](const Metric& metric) {
    return metric.id == id && metric.instance == instance;
  });
  return it == metrics.end() ? nullptr : &*it;
}

struct V3dCard {
  V3dCard() { machine.add_platform("fd500000.gpu", "v3d", {card0, render128}); }

  std::vector<Metric> metrics(bool slow, PlainReading& reading) {
    std::vector<Metric> metrics;
    REQUIRE(machine.source().prepare(reading));
    REQUIRE(machine.source().metrics(0, slow, metrics, reading));
    return metrics;
  }
  // Longer than the minimum distance of two compared walks.
  static void wait() { std::this_thread::sleep_for(std::chrono::milliseconds(110)); }

  Machine machine;
};

}  // namespace

TEST_CASE("the load of an engine class is one value for all clients") {
  V3dCard card;
  PlainReading reading;
  card.machine.devices(reading);
  card.machine.add_process(
      10,
      {{3, "/dev/null", format_info(1, format_busy("render", 0) + format_busy("bin", 5 * ms))}});
  card.machine.add_process(11, {{3, "/dev/null", format_info(2, format_busy("csd", 7 * ms))}});
  CHECK(card.metrics(true, reading).empty());
  CHECK(reading.find("two readings: read again") != nullptr);
  V3dCard::wait();
  card.machine.add_process(
      10, {{3, "/dev/null",
            format_info(1, format_busy("render", 4 * ms) + format_busy("bin", 5 * ms))}});
  card.machine.add_process(11, {{3, "/dev/null", format_info(2, format_busy("csd", 10 * ms))}});
  const auto metrics = card.metrics(true, reading);
  const Metric* const load =
      find(metrics, MetricId::engine_percent, metric_instance::engine::graphics);
  REQUIRE(load != nullptr);
  REQUIRE(load->window_ns);
  CHECK(*load->window_ns >= 100 * ms);
  const auto window = static_cast<double>(*load->window_ns);
  CHECK(*load->value == doctest::Approx(100.0 * 4 * ms / window / 2));
  CHECK(load->source == Source::drm);
  CHECK(load->notes == 0);
  CHECK(find(metrics, MetricId::engine_capacity, metric_instance::engine::graphics)->count == 2u);
  CHECK(find(metrics, MetricId::engine_busy_ns, metric_instance::engine::graphics)->count ==
        9 * ms);
  CHECK(find(metrics, MetricId::engine_busy_ns, metric_instance::engine::compute)->count ==
        10 * ms);
  CHECK(*find(metrics, MetricId::engine_percent, metric_instance::engine::compute)->value ==
        doctest::Approx(100.0 * 3 * ms / window));
  CHECK(find(metrics, MetricId::engine_percent, metric_instance::engine::copy) == nullptr);
}

TEST_CASE("the busy time of an engine does not decrease when a client ends") {
  V3dCard card;
  PlainReading reading;
  card.machine.devices(reading);
  card.machine.add_process(10, {{3, "/dev/null", format_info(1, format_busy("render", 50 * ms))}});
  card.machine.add_process(11, {{3, "/dev/null", format_info(2, format_busy("render", 7 * ms))}});
  card.metrics(true, reading);
  V3dCard::wait();
  card.machine.add_process(11, {{3, "/dev/null", format_info(2, format_busy("render", 8 * ms))}});
  auto metrics = card.metrics(true, reading);
  const Metric* count = find(metrics, MetricId::engine_busy_ns, metric_instance::engine::graphics);
  CHECK(count->count == 58 * ms);
  CHECK((count->notes & note::lower_bound) != 0);
  V3dCard::wait();
  card.machine.tree().remove("proc/10");
  card.machine.add_process(11, {{3, "/dev/null", format_info(2, format_busy("render", 10 * ms))}});
  metrics = card.metrics(true, reading);
  CHECK(find(metrics, MetricId::engine_busy_ns, metric_instance::engine::graphics)->count ==
        60 * ms);
}

TEST_CASE("cycles are divided by their clock and by the number of engines") {
  V3dCard card;
  PlainReading reading;
  card.machine.devices(reading);
  const auto cycles = [](int busy_cycles, int clock) {
    return "drm-cycles-rcs:\t" + std::to_string(busy_cycles) + "\ndrm-total-cycles-rcs:\t" +
           std::to_string(clock) + "\ndrm-engine-capacity-rcs:\t2\n";
  };
  card.machine.add_process(10, {{3, "/dev/null", format_info(1, cycles(100, 1000))}});
  card.metrics(true, reading);
  V3dCard::wait();
  card.machine.add_process(10, {{3, "/dev/null", format_info(1, cycles(400, 2000))}});
  const auto metrics = card.metrics(true, reading);
  CHECK(*find(metrics, MetricId::engine_percent, metric_instance::engine::graphics)->value ==
        doctest::Approx(15.0));
  CHECK(find(metrics, MetricId::engine_capacity, metric_instance::engine::graphics)->count == 2u);
  CHECK(find(metrics, MetricId::engine_busy_ns, metric_instance::engine::graphics) == nullptr);
}

TEST_CASE("quick metrics do not walk over processes but use an earlier walk") {
  V3dCard card;
  PlainReading reading;
  card.machine.devices(reading);
  card.machine.add_process(10, {{3, "/dev/null", format_info(1, format_busy("render", 0))}});
  card.machine.rows(0, reading);
  V3dCard::wait();
  CHECK(card.metrics(false, reading).empty());
  std::vector<Usage> rows;
  REQUIRE(card.machine.source().processes(0, rows, reading));
  std::vector<Metric> metrics;
  REQUIRE(card.machine.source().metrics(0, false, metrics, reading));
  CHECK(find(metrics, MetricId::engine_percent, metric_instance::engine::graphics) != nullptr);
}

TEST_CASE("without engine accounting neither the device nor its processes have a load") {
  for (const char* driver : {"panfrost", "panthor"}) {
    CAPTURE(driver);
    Machine machine;
    machine.add_platform("ff9a0000.gpu", driver, {card0, render128});
    machine.tree().write("sys/devices/platform/ff9a0000.gpu/profiling", "0\n");
    PlainReading reading;
    machine.devices(reading);
    const auto lines = [](unsigned ns) { return format_info(1, format_busy("fragment", ns)); };
    machine.add_process(10, {{3, "/dev/null", lines(0)}});
    machine.rows(0, reading);
    V3dCard::wait();
    const auto rows = machine.rows(0, reading);
    REQUIRE(rows.size() == 1);
    CHECK(rows[0].used == 4 * kib);
    CHECK_FALSE(rows[0].busy_ns);
    CHECK_FALSE(rows[0].busy_percent);
    CHECK_FALSE(rows[0].kinds);
    const Diagnostic* const diagnostic = reading.find("profiling is 0");
    REQUIRE(diagnostic != nullptr);
    CHECK(diagnostic->subject == subject::processes);
    std::vector<Metric> metrics;
    REQUIRE(machine.source().metrics(0, true, metrics, reading));
    CHECK(metrics.empty());
    machine.tree().write("sys/devices/platform/ff9a0000.gpu/profiling", "1\n");
    CHECK(machine.rows(0, reading).at(0).busy_ns == 0u);
  }
}

TEST_CASE("a process that is read again has a load since the first reading") {
  V3dCard card;
  card.machine.add_process(10, {{3, "/dev/null", format_info(1, format_busy("render", 5 * ms))}});
  card.machine.add_process(11, {{3, "/dev/null", format_info(2, format_busy("render", 5 * ms))}});
  hmn_fake::set_self(card.machine.tree(), 11);
  bool self = false;
  SUBCASE("another process") {}
  SUBCASE("the calling process") {
    self = true;
  }
  const std::uint32_t pid = self ? 11 : 10;
  PlainReading reading;
  card.machine.devices(reading);
  Usage first;
  REQUIRE(card.machine.source().process(0, pid, self, first, reading));
  CHECK_FALSE(first.busy_percent);
  const Diagnostic* const diagnostic = reading.find("two readings: read again");
  REQUIRE(diagnostic != nullptr);
  CHECK(diagnostic->field == usage_field::busy_percent);
  CHECK(diagnostic->subject == (self ? subject::self : subject::processes));
  V3dCard::wait();
  card.machine.add_process(
      pid, {{3, "/dev/null", format_info(pid - 9, format_busy("render", 25 * ms))}});
  PlainReading later;
  REQUIRE(card.machine.source().prepare(later));
  Usage again;
  REQUIRE(card.machine.source().process(0, pid, self, again, later));
  REQUIRE(again.busy_percent);
  REQUIRE(again.window_ns != 0);
  CHECK(again.window_ns >= 100 * ms);
  CHECK(*again.busy_percent ==
        doctest::Approx(100.0 * 20 * ms / static_cast<double>(again.window_ns.value())));
  CHECK(later.find("two readings: read again") == nullptr);
  // A reading of one process gives no load for another.
  Usage neighbour;
  REQUIRE(card.machine.source().process(0, self ? 10 : 11, false, neighbour, later));
  CHECK_FALSE(neighbour.busy_percent);
}

TEST_CASE("only 8 processes are remembered, and a forgotten process starts without a load") {
  drm::QueriedProcesses processes;
  constexpr std::uint64_t interval_ns = 100 * ms;
  std::uint64_t now = interval_ns;
  const auto next_process = [&](std::uint32_t pid) -> drm::QueriedProcess& {
    drm::QueriedProcess& process = processes.find_or_add(pid, false);
    process.begin(now, interval_ns);
    return process;
  };
  for (std::uint32_t pid = 1; pid <= 8; ++pid) {
    ++now;
    next_process(pid).walks.newest().start_ns = now;
  }
  now += interval_ns;
  CHECK(next_process(1).walks.baseline().start_ns == interval_ns + 1);
  next_process(1).walks.newest().start_ns = now;
  CHECK(next_process(9).walks.baseline().start_ns == 0);  // instead of 2
  CHECK(next_process(1).walks.baseline().start_ns == interval_ns + 1);
  CHECK(next_process(3).walks.baseline().start_ns == interval_ns + 3);
  CHECK(next_process(2).walks.baseline().start_ns == 0);
  processes.forget();
  CHECK(next_process(1).walks.baseline().start_ns == 0);
}
