// SPDX-License-Identifier: MIT OR Apache-2.0
//
// A sleeping GPU is never woken, and a GPU that could sleep is not kept awake.
#include "backends/nvml/device.hpp"
#include "backends/shared/idle/backoff.hpp"
#include "backends/shared/sysfs/attribute.hpp"

#include <doctest/doctest.h>

#include "open_watch.hpp"

#include "machine.hpp"
#include "platform/clock.hpp"

using namespace hmn;

namespace {

constexpr const char* first_address = "0000:01:00.0";
constexpr const char* second_address = "0000:02:00.0";

void add_card(const Machine& machine, const char* address, const char* control,
              const char* status) {
  hmn_fake::add_pci_device(
      machine.tree, {.address = address, .power_control = control, .runtime_status = status});
}

void set_power_file(const Machine& machine, const char* address, const char* file,
                    const char* value) {
  const std::string path = "sys/bus/pci/devices/" + std::string(address) + "/power/" + file;
  machine.tree.write(path, std::string(value) + "\n");
}

std::string two_sleepers() {
  return make_scenario(gpu(1) + "," + gpu(2));
}

unsigned long long count_sleeper_inits(const Machine& machine) {
  return machine.driver.calls("nvmlInitWithFlags") + machine.driver.calls("nvmlInit_v2") +
         machine.driver.calls("nvmlInit");
}

void check_asleep(Machine& machine) {
  const auto result = machine.prepare();
  REQUIRE_FALSE(result);
  CHECK(result.failure().code == Status::asleep);
}

}  // namespace

TEST_CASE("the states of runtime power management are recognized") {
  CHECK(sysfs::is_asleep_status("suspended"));
  CHECK(sysfs::is_asleep_status("suspending"));
  for (const char* word : {"active", "resuming", "error", "unsupported", "", "suspended "}) {
    CHECK_FALSE(sysfs::is_asleep_status(word));
  }
  CHECK(idle::allows_sleep("auto"));
  CHECK_FALSE(idle::allows_sleep("on"));
  CHECK_FALSE(idle::allows_sleep(""));
}

TEST_CASE("cards that never sleep keep the library open") {
  Machine machine(one_gpu());
  SUBCASE("power/control is on") {
    add_card(machine, first_address, "on", "active");
  }
  SUBCASE("power management files are missing") {
    hmn_fake::add_pci_device(machine.tree, {.address = first_address});
  }
  SUBCASE("no PCI bus") {}
  machine.devices();
  CHECK_FALSE(machine.source().finish(machine.reading));
}

TEST_CASE("NVML is closed when idle if at least one card may sleep") {
  Machine machine(two_sleepers());
  add_card(machine, first_address, "on", "active");
  add_card(machine, second_address, "auto", "active");
  CHECK_FALSE(machine.source().finish(machine.reading));
  CHECK(machine.devices().size() == 2);
  CHECK(machine.source().finish(machine.reading));
  machine.source().close();
  CHECK(machine.driver.initialized() == 0);
  CHECK_FALSE(machine.source().finish(machine.reading));
  CHECK(machine.devices().size() == 2);
  CHECK(count_sleeper_inits(machine) == 2);
}

TEST_CASE("a sleeping card is listed from files, and NVML stays closed") {
  Machine machine(one_gpu());
  add_card(machine, first_address, "auto", "suspended");
  hmn_fake::add_nvidia_information(
      machine.tree, {.address = first_address, .model = "NVIDIA Sleeper", .uuid = make_uuid(1)});
  hmn_fake::set_nvidia_version(machine.tree, "550.163.01");
  hmn_fake::OpenWatch watch(
      machine.tree.path("proc/driver/nvidia/gpus/" + std::string(first_address)));
  check_asleep(machine);
  std::vector<Device> devices;
  require_ok(machine.list(devices));
  for (const std::string& name : watch.opened_names()) CHECK(name != "information");
  REQUIRE(devices.size() == 1);
  CHECK(devices[0].state == State::asleep);
  CHECK(devices[0].name.empty());  // only `information` has it, and reading that wakes the card
  CHECK(devices[0].uuid.empty());
  CHECK(devices[0].pci_bus_id.view() == first_address);
  CHECK(devices[0].driver_version.view() == "550.163.01");
  CHECK(devices[0].vendor == vendor::nvidia);
  CHECK(count_sleeper_inits(machine) == 0);
  PoolList none;
  const auto result = machine.source().memory(0, none, machine.reading);
  REQUIRE_FALSE(result);
  CHECK(result.failure().code == Status::asleep);
  CHECK(machine.source().describe(Source::nvml).state == State::asleep);
  SUBCASE("the card has the same slot when it wakes") {
    set_power_file(machine, first_address, "runtime_status", "active");
    const auto awake = machine.devices();
    REQUIRE(awake.size() == 1);
    CHECK(awake[0].slot == devices[0].slot);
    CHECK(awake[0].state == State::ready);
    CHECK(awake[0].name.view() == "NVIDIA Fake 1");
  }
}

TEST_CASE("without the driver's files only the address of a sleeping card is known") {
  Machine machine(one_gpu());
  add_card(machine, first_address, "auto", "suspended");
  check_asleep(machine);
  std::vector<Device> devices;
  require_ok(machine.list(devices));
  REQUIRE(devices.size() == 1);
  CHECK(devices[0].state == State::asleep);
  CHECK(devices[0].name.empty());
  CHECK(devices[0].uuid.empty());
  CHECK(devices[0].pci_bus_id.view() == first_address);
}

TEST_CASE("a card that falls asleep keeps its identity, and its neighbour's state is unknown") {
  Machine machine(two_sleepers());
  add_card(machine, first_address, "on", "active");
  add_card(machine, second_address, "auto", "active");
  const auto before = machine.devices();
  machine.source().close();
  set_power_file(machine, second_address, "runtime_status", "suspended");
  check_asleep(machine);
  std::vector<Device> devices;
  require_ok(machine.list(devices));
  REQUIRE(devices.size() == 2);
  CHECK(devices[0].name == before[0].name);
  CHECK(devices[0].state == State::unknown);
  CHECK(devices[1].uuid == before[1].uuid);
  CHECK(devices[1].state == State::asleep);
  const auto diagnostics = machine.reading.find_diagnostics(subject::devices);
  REQUIRE(diagnostics.size() == 1);
  CHECK(diagnostics[0].device == devices[0].slot);
  CHECK(diagnostics[0].failure.code == Status::asleep);
  CHECK(count_sleeper_inits(machine) == 1);
}

TEST_CASE("NVML is closed when a card falls asleep") {
  Machine machine(one_gpu());
  add_card(machine, first_address, "auto", "active");
  machine.devices();
  CHECK(machine.driver.initialized() == 1);
  set_power_file(machine, first_address, "runtime_status", "suspended");
  check_asleep(machine);
  CHECK(machine.driver.initialized() == 0);
}

TEST_CASE("a sleeping card is woken if the settings allow it") {
  Machine machine(one_gpu());
  machine.settings.wake_devices = true;
  add_card(machine, first_address, "auto", "suspended");
  CHECK(machine.devices().at(0).state == State::ready);
  CHECK(machine.source().finish(machine.reading));
}

TEST_CASE("sleeping cards of other drivers do not keep NVML closed") {
  for (const char* driver : {"vfio-pci", "nouveau"}) {
    Machine machine(one_gpu());
    add_card(machine, first_address, "on", "active");
    hmn_fake::add_pci_device(machine.tree, {.address = second_address,
                                            .power_control = "auto",
                                            .runtime_status = "suspended",
                                            .driver = driver});
    CHECK(machine.devices().size() == 1);
  }
}

TEST_CASE("the driver's list of cards has precedence over the bus") {
  Machine machine(one_gpu());
  add_card(machine, first_address, "on", "active");
  add_card(machine, second_address, "auto", "suspended");
  hmn_fake::add_nvidia_information(machine.tree, {.address = first_address, .uuid = make_uuid(1)});
  CHECK(machine.devices().size() == 1);
  CHECK_FALSE(machine.source().finish(machine.reading));
}

TEST_CASE("power/control is read once a second, runtime_status at every refresh") {
  const hmn_fake::Tree tree;
  const std::string power = "sys/bus/pci/devices/0000:01:00.0/power/";
  hmn_fake::add_pci_device(
      tree, {.address = first_address, .power_control = "auto", .runtime_status = "active"});
  nvml::SleepWatch watch(make_settings(tree));
  constexpr std::uint64_t second_ns = platform::ns_per_second;
  watch.refresh(second_ns);
  CHECK(watch.any_can_sleep());
  CHECK_FALSE(watch.any_asleep());
  tree.write(power + "runtime_status", "suspended\n");
  tree.write(power + "control", "on\n");
  watch.refresh(second_ns + second_ns / 2);
  CHECK(watch.any_asleep());
  watch.refresh(2 * second_ns);
  CHECK_FALSE(watch.any_can_sleep());
  CHECK_FALSE(watch.any_asleep());
  CHECK(watch.changes() == 1);
  hmn_fake::add_pci_device(tree, {.address = second_address});
  watch.refresh(3 * second_ns);
  CHECK(watch.changes() == 2);
  CHECK(watch.devices().size() == 2);
}
