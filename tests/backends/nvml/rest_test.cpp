// SPDX-License-Identifier: MIT OR Apache-2.0
//
// Frequent readings do not keep an idle GPU awake.
#include "backends/shared/idle/backoff.hpp"

#include <doctest/doctest.h>

#include "backends/nvml/device.hpp"
#include "machine.hpp"

using namespace hmn;

namespace {

constexpr const char* card_address = "0000:01:00.0";
constexpr std::uint64_t second_ns = platform::ns_per_second;
constexpr std::uint64_t patience = 2 * second_ns;

// Reads once a second from `now` on until a back-off is due; false: none within a minute.
bool read_until_due(idle::Backoff& backoff, std::uint64_t& now) {
  for (int i = 0; i < 60; ++i, now += second_ns) {
    backoff.begin_reading(now, false);
    if (backoff.is_active()) return false;
    if (backoff.is_check_due(now)) return true;
  }
  return false;
}

// Duration of the back-off, read ten times a second.
std::uint64_t measure_backoff(idle::Backoff& backoff, std::uint64_t now) {
  const std::uint64_t start_ns = now;
  for (backoff.begin_reading(now, false); backoff.is_active();
       backoff.begin_reading(now += second_ns / 10, false)) {
  }
  return now - start_ns;
}

void add_idle_card(const Machine& machine, const char* control = "auto") {
  hmn_fake::add_pci_device(
      machine.tree,
      {.address = card_address, .power_control = control, .runtime_status = "active"});
}

std::string idle_gpu(std::string_view load = R"("gpu": 0, "memory": 0)",
                     std::string_view compute = "") {
  return one_gpu(R"("utilization": {)" + std::string(load) + R"(}, "processes": {"compute": [)" +
                 std::string(compute) + R"(], "graphics": [], "mps": []})");
}

// One reading, including finish().
void read_and_finish(Machine& machine) {
  machine.devices();
  machine.source().finish(machine.reading);
}

}  // namespace

TEST_CASE("only sustained readings start an idle back-off") {
  idle::Backoff backoff(patience);
  std::uint64_t now = 5 * second_ns;
  backoff.begin_reading(now, false);
  CHECK_FALSE(backoff.is_check_due(now));
  now += patience;
  backoff.begin_reading(now, false);
  CHECK(backoff.is_check_due(now));
  CHECK_FALSE(backoff.is_check_due(now + second_ns / 2));  // looked just now
  CHECK(backoff.is_check_due(now + second_ns));
  // In a long pause between readings the GPU could have slept.
  now += idle::shortest_backoff_ns + second_ns;
  backoff.begin_reading(now, false);
  CHECK_FALSE(backoff.is_check_due(now));
}

TEST_CASE("the back-off follows the kernel's autosuspend delay, within bounds") {
  const struct {
    std::uint64_t delay;
    std::uint64_t expected;
  } cases[] = {{0, 10 * second_ns},
               {3 * second_ns, 10 * second_ns},
               {15 * second_ns, 30 * second_ns},
               {100 * second_ns, 60 * second_ns}};
  for (const auto& test_case : cases) {
    idle::Backoff backoff(patience);
    std::uint64_t now = second_ns;
    REQUIRE(read_until_due(backoff, now));
    backoff.start(now, test_case.delay);
    CHECK(measure_backoff(backoff, now) == test_case.expected);
  }
}

TEST_CASE("back-offs become rarer for a GPU that does not go to sleep") {
  idle::Backoff backoff(patience);
  std::uint64_t now = second_ns;
  const auto minutes_until_due = [&] {
    std::uint64_t waited = 0;
    for (;; now += second_ns, waited += second_ns) {
      backoff.begin_reading(now, false);
      REQUIRE_FALSE(backoff.is_active());
      if (backoff.is_check_due(now)) return waited / (60 * second_ns);
    }
  };
  CHECK(minutes_until_due() == 0);
  for (const std::uint64_t expected : {1, 2, 4, 8, 16, 16}) {
    backoff.start(now, 0);
    now += measure_backoff(backoff, now);
    CHECK(minutes_until_due() == expected);
  }
  SUBCASE("back-offs are as frequent as before once the GPU has slept") {
    backoff.begin_reading(now, true);
    CHECK_FALSE(backoff.is_active());
    CHECK(minutes_until_due() == 0);
  }
}

TEST_CASE("sleep ends a back-off") {
  idle::Backoff backoff(patience);
  std::uint64_t now = second_ns;
  REQUIRE(read_until_due(backoff, now));
  backoff.start(now, 0);
  backoff.begin_reading(now + second_ns, true);
  CHECK_FALSE(backoff.is_active());
  now += 2 * second_ns;
  REQUIRE(read_until_due(backoff, now));
}

TEST_CASE("NVML is closed for an idle GPU, and the GPU keeps its identity") {
  Machine machine(idle_gpu());
  machine.settings.idle_close_ns = 0;
  add_idle_card(machine);
  read_and_finish(machine);
  CHECK(machine.driver.initialized() == 0);
  const auto result = machine.prepare();
  REQUIRE_FALSE(result);
  CHECK(result.failure().code == Status::asleep);
  CHECK(machine.source().is_suspended());
  std::vector<Device> devices;
  require_ok(machine.list(devices));
  REQUIRE(devices.size() == 1);
  CHECK(devices[0].state == State::ready);
  CHECK(devices[0].name.view() == "NVIDIA Fake 1");
  const auto diagnostics = machine.reading.find_diagnostics(subject::devices);
  REQUIRE(diagnostics.size() == 1);
  CHECK(diagnostics[0].failure.message.view().find("left closed for a while") != std::string::npos);
  PoolList none;
  CHECK(machine.source().memory(0, none, machine.reading).failure().code == Status::asleep);
  CHECK(machine.driver.calls("nvmlInitWithFlags") == 1);
  CHECK(machine.source().describe(Source::nvml).state == State::ready);
  SUBCASE("the GPU is listed as asleep once it is suspended") {
    machine.tree.write("sys/bus/pci/devices/0000:01:00.0/power/runtime_status", "suspended\n");
    CHECK(machine.prepare().failure().code == Status::asleep);
    CHECK_FALSE(machine.source().is_suspended());
    devices.clear();
    require_ok(machine.list(devices));
    CHECK(devices.at(0).state == State::asleep);
  }
}

TEST_CASE("NVML stays open unless an idle GPU could go to sleep") {
  std::string scenario;
  const char* control = "auto";
  bool may_wake = false;
  SUBCASE("the GPU has a load") {
    scenario = idle_gpu(R"("gpu": 1, "memory": 0)");
  }
  SUBCASE("its memory has a load") {
    scenario = idle_gpu(R"("gpu": 0, "memory": 1)");
  }
  SUBCASE("a process without load is listed") {
    scenario = idle_gpu(R"("gpu": 0, "memory": 0)", R"({"pid": 7, "used": 5})");
  }
  SUBCASE("the load is not reported") {
    scenario = one_gpu(R"("processes": {"compute": [], "graphics": [], "mps": []})");
  }
  SUBCASE("the GPU never sleeps") {
    scenario = idle_gpu();
    control = "on";
  }
  SUBCASE("the GPU may be woken") {
    scenario = idle_gpu();
    may_wake = true;
  }
  Machine machine(scenario);
  machine.settings.idle_close_ns = 0;
  machine.settings.wake_devices = may_wake;
  add_idle_card(machine, control);
  read_and_finish(machine);
  CHECK(machine.driver.initialized() == 1);
  CHECK_FALSE(machine.source().is_suspended());
}

TEST_CASE("the longest autosuspend delay counts only cards that may sleep") {
  const hmn_fake::Tree tree;
  const auto add = [&](const char* address, const char* control, const char* delay) {
    hmn_fake::add_pci_device(
        tree, {.address = address, .power_control = control, .runtime_status = "active"});
    tree.write("sys/bus/pci/devices/" + std::string(address) + "/power/autosuspend_delay_ms",
               delay);
  };
  add("0000:01:00.0", "auto", "3000\n");
  add("0000:02:00.0", "auto", "12000\n");
  add("0000:03:00.0", "on", "99000\n");
  add("0000:04:00.0", "auto", "-1\n");
  nvml::SleepWatch watch(make_settings(tree));
  watch.refresh(second_ns);
  CHECK(watch.longest_delay_ns() == 12 * second_ns);
}
