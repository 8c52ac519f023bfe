// SPDX-License-Identifier: MIT OR Apache-2.0
//
// A sleeping GPU is never woken, and one that could sleep is not kept awake.
#include "backends/nvml/device.hpp"
#include "backends/shared/idle/backoff.hpp"
#include "backends/shared/sysfs/attribute.hpp"

#include <doctest/doctest.h>

#include "open_watch.hpp"

#include "machine.hpp"
#include "platform/clock.hpp"

using namespace hmn;

namespace {

constexpr const char* first = "0000:01:00.0";
constexpr const char* sleep_second = "0000:02:00.0";

void add_card(const Machine& m, const char* address, const char* control, const char* status) {
  hmn_fake::add_pci_device(
      m.tree, {.address = address, .power_control = control, .runtime_status = status});
}

void set(const Machine& m, const char* address, const char* file, const char* word) {
  const std::string path = "sys/bus/pci/devices/" + std::string(address) + "/power/" + file;
  m.tree.write(path, std::string(word) + "\n");
}

std::string two_sleepers() {
  return machine_of(gpu(1) + "," + gpu(2));
}

unsigned long long inits_of_sleeper(const Machine& m) {
  return m.driver.calls("nvmlInitWithFlags") + m.driver.calls("nvmlInit_v2") +
         m.driver.calls("nvmlInit");
}

void check_asleep(Machine& m) {
  const auto done = m.prepare();
  REQUIRE_FALSE(done);
  CHECK(done.why().code == Status::asleep);
}

}  // namespace

TEST_CASE("the words of runtime power management") {
  CHECK(sysfs::says_asleep("suspended"));
  CHECK(sysfs::says_asleep("suspending"));
  for (const char* word : {"active", "resuming", "error", "unsupported", "", "suspended "}) {
    CHECK_FALSE(sysfs::says_asleep(word));
  }
  CHECK(idle::says_may_sleep("auto"));
  CHECK_FALSE(idle::says_may_sleep("on"));
  CHECK_FALSE(idle::says_may_sleep(""));
}

TEST_CASE("cards that never sleep keep the library open") {
  Machine m(one_gpu());
  SUBCASE("with power/control on") {
    add_card(m, first, "on", "active");
  }
  SUBCASE("without the files") {
    hmn_fake::add_pci_device(m.tree, {.address = first});
  }
  SUBCASE("without a bus") {}
  m.devices();
  CHECK_FALSE(m.source().finish(m.reading));
}

TEST_CASE("one card that may sleep is enough to close when idle") {
  Machine m(two_sleepers());
  add_card(m, first, "on", "active");
  add_card(m, sleep_second, "auto", "active");
  CHECK_FALSE(m.source().finish(m.reading));
  CHECK(m.devices().size() == 2);
  CHECK(m.source().finish(m.reading));
  m.source().close();
  CHECK(m.driver.initialized() == 0);
  CHECK_FALSE(m.source().finish(m.reading));
  CHECK(m.devices().size() == 2);
  CHECK(inits_of_sleeper(m) == 2);
}

TEST_CASE("a sleeping card is told asleep from what files say, and NVML stays closed") {
  Machine m(one_gpu());
  add_card(m, first, "auto", "suspended");
  hmn_fake::add_nvidia_information(
      m.tree, {.address = first, .model = "NVIDIA Sleeper", .uuid = uuid_of(1)});
  hmn_fake::set_nvidia_version(m.tree, "550.163.01");
  hmn_fake::OpenWatch watch(m.tree.path("proc/driver/nvidia/gpus/" + std::string(first)));
  check_asleep(m);
  std::vector<Device> found;
  require_ok(m.list(found));
  for (const std::string& name : watch.opened()) CHECK(name != "information");
  REQUIRE(found.size() == 1);
  CHECK(found[0].state == State::asleep);
  CHECK(found[0].name.empty());  // only `information` has it, and reading that wakes the card
  CHECK(found[0].uuid.empty());
  CHECK(found[0].pci_bus_id.view() == first);
  CHECK(found[0].driver_version.view() == "550.163.01");
  CHECK(found[0].vendor == vendor::nvidia);
  CHECK(inits_of_sleeper(m) == 0);
  Pools none;
  const auto done = m.source().memory(0, none, m.reading);
  REQUIRE_FALSE(done);
  CHECK(done.why().code == Status::asleep);
  CHECK(m.source().describe(Source::nvml).state == State::asleep);
  SUBCASE("and it has the same slot when it wakes") {
    set(m, first, "runtime_status", "active");
    const auto awake = m.devices();
    REQUIRE(awake.size() == 1);
    CHECK(awake[0].number == found[0].number);
    CHECK(awake[0].state == State::ready);
    CHECK(awake[0].name.view() == "NVIDIA Fake 1");
  }
}

TEST_CASE("without files of the driver a sleeping card has its address alone") {
  Machine m(one_gpu());
  add_card(m, first, "auto", "suspended");
  check_asleep(m);
  std::vector<Device> found;
  require_ok(m.list(found));
  REQUIRE(found.size() == 1);
  CHECK(found[0].state == State::asleep);
  CHECK(found[0].name.empty());
  CHECK(found[0].uuid.empty());
  CHECK(found[0].pci_bus_id.view() == first);
}

TEST_CASE("a card that falls asleep keeps its identity, and its neighbour is not called ready") {
  Machine m(two_sleepers());
  add_card(m, first, "on", "active");
  add_card(m, sleep_second, "auto", "active");
  const auto before = m.devices();
  m.source().close();
  set(m, sleep_second, "runtime_status", "suspended");
  check_asleep(m);
  std::vector<Device> found;
  require_ok(m.list(found));
  REQUIRE(found.size() == 2);
  CHECK(found[0].name == before[0].name);
  CHECK(found[0].state == State::unknown);
  CHECK(found[1].uuid == before[1].uuid);
  CHECK(found[1].state == State::asleep);
  const auto said = m.reading.about(subject::devices);
  REQUIRE(said.size() == 1);
  CHECK(said[0].device == found[0].number);
  CHECK(said[0].why.code == Status::asleep);
  CHECK(inits_of_sleeper(m) == 1);
}

TEST_CASE("a card that falls asleep while the library is open has it closed") {
  Machine m(one_gpu());
  add_card(m, first, "auto", "active");
  m.devices();
  CHECK(m.driver.initialized() == 1);
  set(m, first, "runtime_status", "suspended");
  check_asleep(m);
  CHECK(m.driver.initialized() == 0);
}

TEST_CASE("a sleeping card is woken when that is allowed") {
  Machine m(one_gpu());
  m.settings.wake_devices = true;
  add_card(m, first, "auto", "suspended");
  CHECK(m.devices().at(0).state == State::ready);
  CHECK(m.source().finish(m.reading));
}

TEST_CASE("cards of other drivers do not keep NVML closed") {
  for (const char* driver : {"vfio-pci", "nouveau"}) {
    Machine m(one_gpu());
    add_card(m, first, "on", "active");
    hmn_fake::add_pci_device(m.tree, {.address = sleep_second,
                                      .power_control = "auto",
                                      .runtime_status = "suspended",
                                      .driver = driver});
    CHECK(m.devices().size() == 1);
  }
}

TEST_CASE("the driver's own list goes before the bus, which a container sees whole") {
  Machine m(one_gpu());
  add_card(m, first, "on", "active");
  add_card(m, sleep_second, "auto", "suspended");
  hmn_fake::add_nvidia_information(m.tree, {.address = first, .uuid = uuid_of(1)});
  CHECK(m.devices().size() == 1);
  CHECK_FALSE(m.source().finish(m.reading));
}

TEST_CASE("power/control is read once a second, runtime_status each time") {
  const hmn_fake::Tree tree;
  const std::string power = "sys/bus/pci/devices/0000:01:00.0/power/";
  hmn_fake::add_pci_device(tree,
                           {.address = first, .power_control = "auto", .runtime_status = "active"});
  nvml::SleepWatch watch(settings_of(tree));
  constexpr std::uint64_t second_ns = platform::ns_per_second;
  watch.refresh(second_ns);
  CHECK(watch.one_may_sleep());
  CHECK_FALSE(watch.one_is_asleep());
  tree.write(power + "runtime_status", "suspended\n");
  tree.write(power + "control", "on\n");
  watch.refresh(second_ns + second_ns / 2);
  CHECK(watch.one_is_asleep());
  watch.refresh(2 * second_ns);
  CHECK_FALSE(watch.one_may_sleep());
  CHECK_FALSE(watch.one_is_asleep());
  CHECK(watch.changes() == 1);
  hmn_fake::add_pci_device(tree, {.address = sleep_second});
  watch.refresh(3 * second_ns);
  CHECK(watch.changes() == 2);
  CHECK(watch.devices().size() == 2);
}
