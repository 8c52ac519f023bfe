// SPDX-License-Identifier: MIT OR Apache-2.0
//
// Readings that follow each other fast keep no GPU awake that has nothing to do.
#include "backends/shared/idle/backoff.hpp"

#include <doctest/doctest.h>

#include "backends/nvml/device.hpp"
#include "machine.hpp"

using namespace hmn;

namespace {

constexpr const char* card_address = "0000:01:00.0";
constexpr std::uint64_t rest_second = platform::ns_per_second;
constexpr std::uint64_t patience = 2 * rest_second;

// Readings once a rest_second from `now` on, until a rest is due; false: none within a minute.
bool read_until_due(idle::Backoff& r, std::uint64_t& now) {
  for (int i = 0; i < 60; ++i, now += rest_second) {
    r.begin(now, false);
    if (r.is_on()) return false;
    if (r.is_due(now)) return true;
  }
  return false;
}

// As long as NVML is left alone, read ten times a rest_second.
std::uint64_t length_of_rest(idle::Backoff& r, std::uint64_t now) {
  const std::uint64_t begun = now;
  for (r.begin(now, false); r.is_on(); r.begin(now += rest_second / 10, false)) {
  }
  return now - begun;
}

void add_resting_card(const Machine& m, const char* control = "auto") {
  hmn_fake::add_pci_device(
      m.tree, {.address = card_address, .power_control = control, .runtime_status = "active"});
}

std::string idle_gpu(std::string_view load = R"("gpu": 0, "memory": 0)",
                     std::string_view compute = "") {
  return one_gpu(R"("utilization": {)" + std::string(load) + R"(}, "processes": {"compute": [)" +
                 std::string(compute) + R"(], "graphics": [], "mps": []})");
}

// One reading with its end.
void read_and_rest(Machine& m) {
  m.devices();
  m.source().finish(m.reading);
}

}  // namespace

TEST_CASE("a burst of readings is no reason to rest, and lasting ones are") {
  idle::Backoff r(patience);
  std::uint64_t now = 5 * rest_second;
  r.begin(now, false);
  CHECK_FALSE(r.is_due(now));
  now += patience;
  r.begin(now, false);
  CHECK(r.is_due(now));
  CHECK_FALSE(r.is_due(now + rest_second / 2));  // looked just now
  CHECK(r.is_due(now + rest_second));
  // A reading long after the last one found the GPU free to sleep meanwhile.
  now += idle::shortest_backoff_ns + rest_second;
  r.begin(now, false);
  CHECK_FALSE(r.is_due(now));
}

TEST_CASE("a rest is as long as the kernel needs, within bounds") {
  const struct {
    std::uint64_t delay;
    std::uint64_t rest;
  } cases[] = {{0, 10 * rest_second},
               {3 * rest_second, 10 * rest_second},
               {15 * rest_second, 30 * rest_second},
               {100 * rest_second, 60 * rest_second}};
  for (const auto& c : cases) {
    idle::Backoff r(patience);
    std::uint64_t now = rest_second;
    REQUIRE(read_until_due(r, now));
    r.start(now, c.delay);
    CHECK(length_of_rest(r, now) == c.rest);
  }
}

TEST_CASE("what does not sleep when it is left alone is tried less and less often") {
  idle::Backoff r(patience);
  std::uint64_t now = rest_second;
  const auto minutes_to_next = [&] {
    std::uint64_t waited = 0;
    for (;; now += rest_second, waited += rest_second) {
      r.begin(now, false);
      REQUIRE_FALSE(r.is_on());
      if (r.is_due(now)) return waited / (60 * rest_second);
    }
  };
  CHECK(minutes_to_next() == 0);
  for (const std::uint64_t wanted : {1, 2, 4, 8, 16, 16}) {
    r.start(now, 0);
    now += length_of_rest(r, now);
    CHECK(minutes_to_next() == wanted);
  }
  SUBCASE("and as before once it has slept") {
    r.begin(now, true);
    CHECK_FALSE(r.is_on());
    CHECK(minutes_to_next() == 0);
  }
}

TEST_CASE("sleep ends a rest") {
  idle::Backoff r(patience);
  std::uint64_t now = rest_second;
  REQUIRE(read_until_due(r, now));
  r.start(now, 0);
  r.begin(now + rest_second, true);
  CHECK_FALSE(r.is_on());
  now += 2 * rest_second;
  REQUIRE(read_until_due(r, now));
}

TEST_CASE("NVML is closed behind a GPU that has nothing to do, and its identity stays") {
  Machine m(idle_gpu());
  m.settings.idle_close_ns = 0;
  add_resting_card(m);
  read_and_rest(m);
  CHECK(m.driver.initialized() == 0);
  const auto done = m.prepare();
  REQUIRE_FALSE(done);
  CHECK(done.why().code == Status::asleep);
  CHECK(m.source().rests());
  std::vector<Device> found;
  require_ok(m.list(found));
  REQUIRE(found.size() == 1);
  CHECK(found[0].state == State::ready);
  CHECK(found[0].name.view() == "NVIDIA Fake 1");
  const auto said = m.reading.about(subject::devices);
  REQUIRE(said.size() == 1);
  CHECK(said[0].why.message.view().find("left closed for a while") != std::string::npos);
  Pools none;
  CHECK(m.source().memory(0, none, m.reading).why().code == Status::asleep);
  CHECK(m.driver.calls("nvmlInitWithFlags") == 1);
  CHECK(m.source().describe(Source::nvml).state == State::ready);
  SUBCASE("until it sleeps") {
    m.tree.write("sys/bus/pci/devices/0000:01:00.0/power/runtime_status", "suspended\n");
    CHECK(m.prepare().why().code == Status::asleep);
    CHECK_FALSE(m.source().rests());
    found.clear();
    require_ok(m.list(found));
    CHECK(found.at(0).state == State::asleep);
  }
}

TEST_CASE("a GPU in use is read as often as asked") {
  std::string scenario;
  const char* control = "auto";
  bool may_wake = false;
  SUBCASE("by its load") {
    scenario = idle_gpu(R"("gpu": 1, "memory": 0)");
  }
  SUBCASE("by the load of its memory") {
    scenario = idle_gpu(R"("gpu": 0, "memory": 1)");
  }
  SUBCASE("by a process that does nothing now") {
    scenario = idle_gpu(R"("gpu": 0, "memory": 0)", R"({"pid": 7, "used": 5})");
  }
  SUBCASE("as far as can be told, without a load") {
    scenario = one_gpu(R"("processes": {"compute": [], "graphics": [], "mps": []})");
  }
  SUBCASE("and so is one that never sleeps") {
    scenario = idle_gpu();
    control = "on";
  }
  SUBCASE("and so is one that may be woken") {
    scenario = idle_gpu();
    may_wake = true;
  }
  Machine m(scenario);
  m.settings.idle_close_ns = 0;
  m.settings.wake_devices = may_wake;
  add_resting_card(m, control);
  read_and_rest(m);
  CHECK(m.driver.initialized() == 1);
  CHECK_FALSE(m.source().rests());
}

TEST_CASE("the kernel's delay is the longest of those that may sleep") {
  const hmn_fake::Tree tree;
  const auto add = [&](const char* at, const char* control, const char* delay) {
    hmn_fake::add_pci_device(tree,
                             {.address = at, .power_control = control, .runtime_status = "active"});
    tree.write("sys/bus/pci/devices/" + std::string(at) + "/power/autosuspend_delay_ms", delay);
  };
  add("0000:01:00.0", "auto", "3000\n");
  add("0000:02:00.0", "auto", "12000\n");
  add("0000:03:00.0", "on", "99000\n");
  add("0000:04:00.0", "auto", "-1\n");
  nvml::SleepWatch watch(settings_of(tree));
  watch.refresh(rest_second);
  CHECK(watch.longest_delay_ns() == 12 * rest_second);
}
