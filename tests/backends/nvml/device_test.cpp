// SPDX-License-Identifier: MIT OR Apache-2.0
#include <doctest/doctest.h>
#include <unistd.h>

#include "backends/nvml/abi.hpp"
#include "backends/nvml/identity.hpp"
#include "machine.hpp"
#include "platform/clock.hpp"

using namespace hmn;

namespace {

std::string three_gpus() {
  return make_scenario(gpu(1) + "," + gpu(2) + "," + gpu(3));
}

void wait_for_reopening() {
  usleep(1'050'000);
}

const Diagnostic* find_missing_field(const std::vector<Diagnostic>& all, std::uint64_t field) {
  for (const Diagnostic& diagnostic : all) {
    if (diagnostic.field == field) return &diagnostic;
  }
  return nullptr;
}

// Reading whose deadline passes after `limit` checks, one per driver call.
class ExpiringReading final : public Reading {
 public:
  explicit ExpiringReading(unsigned limit) : limit_(limit) {}
  [[nodiscard]] std::uint64_t deadline_ns() const noexcept override {
    return check_count_++ < limit_ ? UINT64_MAX : 0;
  }
  [[nodiscard]] bool wants_trace() const noexcept override { return false; }
  void diagnose(const Diagnostic&) override {}
  void begin_opening() noexcept override {}
  void end_opening() noexcept override {}
  [[nodiscard]] bool is_in_time() const { return check_count_ <= limit_; }

 private:
  const unsigned limit_;
  mutable unsigned check_count_ = 0;
};

}  // namespace

TEST_CASE("a GPU's identity and versions are reported") {
  Machine machine(one_gpu());
  hmn_fake::PciDevice card;
  card.address = "0000:01:00.0";
  card.drm_nodes = {"card0", "renderD130"};
  hmn_fake::add_pci_device(machine.tree, card);
  const auto devices = machine.devices();
  REQUIRE(devices.size() == 1);
  const Device& device = devices[0];
  CHECK(device.slot == 0);
  CHECK(device.source == Source::nvml);
  CHECK(device.form == DeviceForm::discrete);
  CHECK(device.state == State::ready);
  CHECK(device.vendor == vendor::nvidia);
  CHECK(device.name.view() == "NVIDIA Fake 1");
  CHECK(device.uuid.view() == make_uuid(1));
  CHECK(device.pci_bus_id.view() == "0000:01:00.0");
  CHECK(device.pci_device == 0x26B9);
  CHECK(device.pci_subsystem == 0x185110DE);
  CHECK(device.render_minor == 130);
  CHECK(device.driver_index == 0);
  CHECK(device.driver_version.view() == "550.163.01");
  CHECK(device.cuda_version_major == 12);
  CHECK(device.cuda_version_minor == 4);
  CHECK(device.compute_capability_major == 8);
  CHECK(device.compute_capability_minor == 9);
  CHECK(device.architecture.view() == "Ada");
  CHECK(!device.parent);
  CHECK(!device.instance);
  CHECK(!device.numa_node);
  CHECK(machine.reading.find_diagnostics().empty());
}

TEST_CASE("identities are queried once, and relisting makes at most two calls per GPU") {
  Machine machine(three_gpus());
  machine.devices();
  const auto before = machine.driver.calls(nullptr);
  CHECK(machine.devices().size() == 3);
  CHECK(machine.driver.calls(nullptr) - before <= 1 + 2 * 3);
  CHECK(machine.driver.calls("nvmlDeviceGetName") == 3);
}

TEST_CASE("UTF-8 and control characters in the driver's text are kept") {
  Machine machine(make_scenario(R"({"name": "NVIDIA \u00e9\u0001x", "uuid": "GPU-a"})"));
  CHECK(machine.devices().at(0).name.view() == "NVIDIA \xC3\xA9\x01x");
}

TEST_CASE("missing identity fields are reported at each reading") {
  Machine machine(
      one_gpu(R"("results": {"nvmlDeviceGetName": "NO_DATA", "nvmlDeviceGetUUID": 3})"));
  for (int i = 0; i < 2; ++i) {
    const auto devices = machine.devices();
    REQUIRE(devices.size() == 1);
    CHECK(devices[0].name.empty());
    CHECK(devices[0].uuid.empty());
    CHECK(devices[0].pci_bus_id.view() == "0000:01:00.0");
    const auto diagnostics = machine.reading.find_diagnostics(subject::devices);
    REQUIRE(diagnostics.size() == 2);
    REQUIRE(find_missing_field(diagnostics, device_field::name) != nullptr);
    CHECK(find_missing_field(diagnostics, device_field::name)->failure.code == Status::empty);
    REQUIRE(find_missing_field(diagnostics, device_field::uuid) != nullptr);
    CHECK(find_missing_field(diagnostics, device_field::uuid)->failure.code == Status::unsupported);
    CHECK(diagnostics[0].device == 0);
  }
}

TEST_CASE("a failed identity query is retried, and the known fields are kept") {
  Machine machine(one_gpu("", R"("rules": [{"call": "nvmlDeviceGetName", "result": "UNKNOWN",
                                      "times": 1}])"));
  CHECK(machine.devices().at(0).name.empty());
  CHECK(machine.devices().at(0).name.view() == "NVIDIA Fake 1");
  CHECK(machine.reading.find_diagnostics().empty());
}

TEST_CASE("versions not reported by the driver are absent, with a diagnostic") {
  Machine machine(one_gpu("", R"("rules": [{"call": "nvmlSystemGet*", "result": "UNKNOWN"}])"));
  const auto devices = machine.devices();
  CHECK(devices.at(0).driver_version.empty());
  CHECK(!devices.at(0).cuda_version_major);
  CHECK(!devices.at(0).cuda_version_minor);
  const auto diagnostics = machine.reading.find_diagnostics(subject::devices);
  CHECK(find_missing_field(diagnostics, device_field::driver_version) != nullptr);
  CHECK(find_missing_field(diagnostics, device_field::cuda_version_major) != nullptr);
}

TEST_CASE("known architecture numbers have a name, and unknown ones have none") {
  CHECK(nvml::find_architecture_name(2) == "Kepler");
  CHECK(nvml::find_architecture_name(9) == "Hopper");
  CHECK(nvml::find_architecture_name(10) == "Blackwell");
  for (const unsigned none : {0U, 1U, 11U, 0xFFFFFFFFU})
    CHECK(nvml::find_architecture_name(none).empty());
  Machine machine(make_scenario(R"({"compute_capability": [12, 1], "architecture": 4294967295},
                          {"compute_capability": [-1, 0], "architecture": 10}, {})"));
  const auto devices = machine.devices();
  REQUIRE(devices.size() == 3);
  CHECK(devices[0].compute_capability_major == 12);
  CHECK(devices[0].compute_capability_minor == 1);
  CHECK(devices[0].architecture.empty());
  CHECK(!devices[1].compute_capability_major);
  CHECK(devices[1].architecture.view() == "Blackwell");
  CHECK(!devices[2].compute_capability_major);
  CHECK(devices[2].architecture.empty());
  const auto diagnostics = machine.reading.find_diagnostics(subject::devices);
  CHECK(find_missing_field(diagnostics, device_field::compute_capability_major) != nullptr);
  CHECK(find_missing_field(diagnostics, device_field::architecture) != nullptr);
}

TEST_CASE("without libcuda the CUDA version comes from the first-generation call") {
  Machine machine(one_gpu("", R"("rules": [{"call": "nvmlSystemGetCudaDriverVersion_v2",
                                      "result": "LIBRARY_NOT_FOUND"}])"));
  CHECK(machine.devices().at(0).cuda_version_major == 12);
}

TEST_CASE("without GPUs the list is empty, and a GPU that only the kernel lists is reported") {
  Machine machine(make_scenario(""));
  CHECK(machine.devices().empty());
  CHECK(machine.reading.find_diagnostics().empty());
  hmn_fake::add_nvidia_information(machine.tree, {.address = "0000:01:00.0", .uuid = make_uuid(1)});
  machine.restart();
  CHECK(machine.devices().empty());
  CHECK(machine.reading.find_diagnostics().size() == 1);
}

TEST_CASE("slots belong to cards, whatever the driver's order") {
  Machine machine(three_gpus());
  machine.devices();
  machine.driver.load(make_scenario(gpu(3) + "," + gpu(1)));
  const auto fewer = machine.devices();
  REQUIRE(fewer.size() == 2);
  CHECK(fewer[0].slot == 2);
  CHECK(fewer[0].driver_index == 0);
  CHECK(fewer[1].slot == 0);
  CHECK(fewer[1].driver_index == 1);
  PoolList none;
  const auto result = machine.memory(1, none);
  REQUIRE_FALSE(result);
  CHECK(result.failure().code == Status::device_lost);
  machine.driver.load(make_scenario(gpu(4) + "," + gpu(3) + "," + gpu(2) + "," + gpu(1)));
  const auto more = machine.devices();
  REQUIRE(more.size() == 4);
  CHECK(more[0].slot == 3);
  CHECK(more[2].slot == 1);
  CHECK(machine.pool(1).used == 3584 * mib);
}

TEST_CASE("without a UUID the address keeps the slot, and a new UUID there is a new card") {
  const char* no_uuid = R"("results": {"nvmlDeviceGetUUID": 3})";
  Machine machine(make_scenario(gpu(1, no_uuid) + "," + gpu(2, no_uuid)));
  machine.devices();
  machine.driver.load(make_scenario(gpu(2, no_uuid) + "," + gpu(1, no_uuid)));
  const auto reversed = machine.devices();
  REQUIRE(reversed.size() == 2);
  CHECK(reversed[0].slot == 1);
  CHECK(reversed[1].slot == 0);
  machine.restart();
  machine.driver.load(make_scenario(R"({"uuid": "GPU-a", "pci": {"address": "0000:01:00.0"}})"));
  CHECK(machine.devices().at(0).slot == 0);
  machine.driver.load(make_scenario(R"({"uuid": "GPU-b", "pci": {"address": "0000:01:00.0"}})"));
  CHECK(machine.devices().at(0).slot == 1);
}

TEST_CASE("two cards with the same UUID are listed as two devices") {
  Machine machine(make_scenario(R"({"uuid": "GPU-a", "pci": {"address": "0000:01:00.0"}},
                          {"uuid": "GPU-a", "pci": {"address": "0000:02:00.0"}})"));
  const auto devices = machine.devices();
  REQUIRE(devices.size() == 2);
  CHECK(devices[0].slot != devices[1].slot);
}

TEST_CASE("a moved GPU is not listed twice when the GPU at its old index is lost") {
  Machine machine(make_scenario(gpu(1) + "," + gpu(2)));
  machine.devices();
  machine.driver.load(make_scenario(
      gpu(2) + "," + gpu(3), R"("rules": [{"call": "nvmlDevice*", "device": 1, "result": 15}])"));
  const auto devices = machine.devices();
  REQUIRE(devices.size() == 2);
  CHECK(devices[0].slot == 1);
  CHECK(devices[0].state == State::ready);
  CHECK(devices[1].slot != 1);
  CHECK(devices[1].state == State::lost);
}

TEST_CASE("a lost GPU is listed as lost, and its neighbours still answer") {
  Machine machine(three_gpus());
  const auto before = machine.devices();
  machine.driver.load(
      make_scenario(gpu(1) + "," + gpu(2) + "," + gpu(3),
                    R"("rules": [{"call": "nvmlDevice*", "device": 1, "result": 15}])"));
  const auto after = machine.devices();
  REQUIRE(after.size() == 3);
  CHECK(after[0].state == State::ready);
  CHECK(after[1].state == State::lost);
  CHECK(after[1].slot == before[1].slot);
  CHECK(after[1].uuid == before[1].uuid);
  CHECK(after[2].state == State::ready);
  PoolList none;
  const auto lost = machine.memory(1, none);
  REQUIRE_FALSE(lost);
  CHECK(lost.failure().code == Status::device_lost);
  CHECK(lost.failure().native.code == nvml::gpu_is_lost);
  CHECK(machine.pool(0).used == 3584 * mib);
  CHECK(machine.pool(2).used == 3584 * mib);
}

TEST_CASE("a GPU that a reading finds lost is listed as lost until it answers again") {
  Machine machine(make_scenario(gpu(1) + "," + gpu(2),
                                R"("rules": [{"call": "nvmlDeviceGetMemoryInfo_v2", "device": 0,
                                     "result": "GPU_IS_LOST", "from": 2, "times": 2}])"));
  machine.devices();
  PoolList none;
  CHECK_FALSE(machine.memory(0, none));
  CHECK(machine.devices().at(0).state == State::lost);
  CHECK(machine.devices().at(0).state == State::ready);
  CHECK(machine.pool(0).used == 3584 * mib);
}

TEST_CASE("NVML is reopened to look for a GPU that stays lost") {
  Machine machine(one_gpu());
  const OpeningTime opening;
  machine.devices();
  machine.driver.load(one_gpu("", R"("rules": [{"call": "nvmlDevice*", "device": 0, "result": 15,
                                          "until_init": true}])"));
  const bool is_lost = machine.devices().at(0).state == State::lost;
  CHECK((is_lost || !opening.is_recent()));
  wait_for_reopening();
  CHECK(machine.devices().at(0).state == State::ready);
  CHECK(machine.driver.calls("nvmlInitWithFlags") == 2);
}

TEST_CASE("a GPU that needs a reset is listed as unreadable until it is reset") {
  constexpr const char* reset_rule = R"("rules": [{"call": "nvmlDeviceGetMemoryInfo*", "device": 0,
                                             "result": "RESET_REQUIRED", "times": 6}])";
  Machine machine(make_scenario(gpu(1) + "," + gpu(2), reset_rule));
  const auto devices = machine.devices();
  REQUIRE(devices.size() == 2);
  CHECK(devices[0].state == State::unreadable);
  CHECK(devices[0].uuid.view() == make_uuid(1));
  CHECK(devices[1].state == State::ready);
  PoolList none;
  const auto refused = machine.memory(0, none);
  REQUIRE_FALSE(refused);
  CHECK(refused.failure().native.code == nvml::reset_required);
  CHECK(refused.failure().message.view().find("reset") != std::string::npos);
  for (int i = 0; i < 6 && machine.devices().at(0).state != State::ready; ++i) continue;
  CHECK(machine.devices().at(0).state == State::ready);
  CHECK(machine.pool(0).used == 3584 * mib);
}

TEST_CASE("a GPU that this user may not open is listed as unreadable") {
  Machine machine(make_scenario(gpu(1) + "," + gpu(2),
                                R"("rules": [{"call": "nvmlDeviceGetHandleByIndex*", "device": 1,
                                     "result": "NO_PERMISSION"}])"));
  SUBCASE("the kernel driver supplies its identity") {
    hmn_fake::add_nvidia_information(machine.tree,
                                     {.address = "0000:01:00.0", .uuid = make_uuid(1)});
    hmn_fake::add_nvidia_information(
        machine.tree, {.address = "0000:02:00.0", .model = "NVIDIA Other", .uuid = make_uuid(2)});
    const auto devices = machine.devices();
    REQUIRE(devices.size() == 2);
    CHECK(devices[1].uuid.view() == make_uuid(2));
    CHECK(devices[1].name.view() == "NVIDIA Other");
    CHECK(devices[1].pci_bus_id.view() == "0000:02:00.0");
  }
  SUBCASE("only its index is known") {
    CHECK(machine.devices().at(1).uuid.empty());
    SUBCASE("it keeps its slot once it can be opened") {
      machine.driver.load(make_scenario(gpu(1) + "," + gpu(2)));
      const auto opened = machine.devices();
      REQUIRE(opened.size() == 2);
      CHECK(opened[1].slot == 1);
      CHECK(opened[1].uuid.view() == make_uuid(2));
      return;
    }
  }
  const auto devices = machine.devices();
  REQUIRE(devices.size() == 2);
  CHECK(devices[1].state == State::unreadable);
  CHECK(devices[1].driver_index == 1);
  CHECK(devices[1].vendor == vendor::nvidia);
  const auto diagnostics = machine.reading.find_diagnostics(subject::devices);
  REQUIRE(diagnostics.size() == 1);
  CHECK(diagnostics[0].failure.code == Status::permission);
  CHECK(diagnostics[0].device == devices[1].slot);
  PoolList none;
  const auto refused = machine.memory(devices[1].slot, none);
  REQUIRE_FALSE(refused);
  CHECK(refused.failure().code == Status::permission);
}

TEST_CASE("reading an unknown slot fails with no_device") {
  Machine machine(one_gpu());
  PoolList none;
  const auto result = machine.memory(1, none);
  REQUIRE_FALSE(result);
  CHECK(result.failure().code == Status::no_device);
}

TEST_CASE("a device can be read without listing devices first") {
  Machine machine(one_gpu());
  CHECK(machine.pool(0).total == 16 * gib);
  CHECK(machine.driver.calls("nvmlDeviceGetName") == 1);
}

TEST_CASE("a list cut off by its deadline, after any call, is completed by the next one") {
  bool is_complete = false;
  for (unsigned limit = 0; !is_complete; ++limit) {
    CAPTURE(limit);
    Machine machine(make_scenario(gpu(1) + "," + gpu(2) + "," + gpu(3)));
    require_ok(machine.prepare());
    ExpiringReading reading(limit);
    std::vector<Device> devices;
    const auto result = machine.source().devices(devices, reading);
    is_complete = result && reading.is_in_time();
    if (!result) {
      CHECK(result.failure().code == Status::timeout);
      CHECK(devices.empty());
      PoolList none;
      const auto late = machine.source().memory(0, none, reading);
      REQUIRE_FALSE(late);
      CHECK(late.failure().code == Status::timeout);
    }
    devices.clear();
    require_ok(machine.list(devices));
    REQUIRE(devices.size() == 3);
    for (const Device& device : devices) CHECK(device.uuid.view() == make_uuid(device.slot + 1));
    CHECK(machine.driver.calls("nvmlDeviceGetName") <= 4);
    CHECK(machine.pool(0).used == 3584 * mib);
    REQUIRE(limit < 1000);
  }
}

TEST_CASE("a GPU that times out in the driver does not affect the others") {
  Machine machine(make_scenario(gpu(1) + "," + gpu(2),
                                R"("rules": [{"call": "nvmlDeviceGetHandleByIndex*", "device": 0,
                                     "result": "TIMEOUT"}])"));
  const auto devices = machine.devices();
  REQUIRE(devices.size() == 2);
  CHECK(devices[0].state == State::unreadable);
  CHECK(devices[1].state == State::ready);
}
