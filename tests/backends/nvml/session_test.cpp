// SPDX-License-Identifier: MIT OR Apache-2.0
//
// Opening NVML, failing to, and opening it again.
#include <doctest/doctest.h>
#include <sys/wait.h>
#include <unistd.h>

#include <filesystem>
#include <fstream>
#include <optional>

#include "backends/nvml/abi.hpp"
#include "machine.hpp"
#include "source/registry.hpp"

using namespace hmn;

namespace {

void wait_for_retry() {
  usleep(1'050'000);
}

std::string library_path(const char* name) {
  return std::string(HMN_FAKE_NVML_FOLDER) + "/nvml-" + name + "/libnvidia-ml.so.1";
}

unsigned long long count_inits(const Machine& machine) {
  return machine.driver.calls("nvmlInitWithFlags") + machine.driver.calls("nvmlInit_v2") +
         machine.driver.calls("nvmlInit");
}

bool is_mapped(const std::string& path) {
  std::ifstream maps("/proc/self/maps");
  for (std::string line; std::getline(maps, line);) {
    if (line.find(path) != std::string::npos) return true;
  }
  return false;
}

// Returns whether `check` succeeds in a forked child.
template <class F>
bool succeeds_in_child(F&& check) {
  const pid_t child = fork();
  if (child == 0) _exit(check() ? 0 : 1);
  int wait_status = 0;
  REQUIRE(waitpid(child, &wait_status, 0) == child);
  return WIFEXITED(wait_status) && WEXITSTATUS(wait_status) == 0;
}

bool has_real_gpu() {
  return access("/dev/nvidiactl", F_OK) == 0 || access("/dev/dxg", F_OK) == 0 ||
         access("/dev/nvmap", F_OK) == 0;
}

}  // namespace

TEST_CASE("a driver that lists only attached GPUs is initialized with attaching at once") {
  for (const auto& [version, is_detached] :
       {std::pair{"580.159.04", false}, {"590.37", true}, {"", true}, {"unknown", true}}) {
    CAPTURE(version);
    Machine machine(one_gpu());
    machine.tree.write("sys/module/nvidia/version", version);
    require_ok(machine.prepare());
    CHECK(machine.driver.calls("nvmlInitWithFlags") == (is_detached ? 1 : 0));
    CHECK(machine.driver.initialized() == 1);
  }
}

TEST_CASE("NVML is opened once, without attaching, and shut down at the end") {
  Machine machine(one_gpu());
  for (int i = 0; i < 3; ++i) CHECK(machine.devices().size() == 1);
  CHECK(machine.pool().total.has_value());
  CHECK(count_inits(machine) == 1);
  CHECK(machine.driver.init_flags() == nvml::init_no_attach);
  CHECK(machine.driver.initialized() == 1);
  CHECK(machine.reading.openings == 1);
  CHECK(machine.reading.closings == 1);
  CHECK(machine.source().describe(Source::nvml).state == State::ready);
  CHECK(machine.source().describe(Source::nvml).version.view() == "550.163.01");
  machine.restart();
  CHECK(machine.driver.initialized() == 0);
}

TEST_CASE("without the newer init functions an older one is called") {
  Machine machine(one_gpu(), library_path("no_init_with_flags"));
  CHECK(machine.devices().size() == 1);
  CHECK(machine.driver.calls("nvmlInit_v2") == 1);
}

TEST_CASE("NVML is reopened with attaching if it counts fewer GPUs than the kernel") {
  Machine machine(make_scenario(gpu(1) + "," + gpu(2)));
  hmn_fake::add_nvidia_information(machine.tree, {.address = "0000:01:00.0", .uuid = make_uuid(1)});
  hmn_fake::add_nvidia_information(machine.tree, {.address = "0000:02:00.0", .uuid = make_uuid(2)});
  hmn_fake::add_nvidia_information(machine.tree, {.address = "0000:03:00.0", .uuid = make_uuid(3)});
  CHECK(machine.devices().size() == 2);
  CHECK(machine.driver.calls("nvmlInitWithFlags") == 1);
  CHECK(machine.driver.calls("nvmlInit_v2") == 1);
  CHECK(machine.driver.initialized() == 1);
}

TEST_CASE("init flags that the driver refuses are omitted") {
  for (const char* refusal : {"INVALID_ARGUMENT", "NOT_SUPPORTED", "GPU_NOT_FOUND"}) {
    Machine machine(one_gpu("", R"("rules": [{"call": "nvmlInitWithFlags", "result": ")" +
                                    std::string(refusal) + "\"}]"));
    CHECK(machine.devices().size() == 1);
    CHECK(machine.driver.calls("nvmlInit_v2") == 1);
  }
}

TEST_CASE("a failed opening has a code and advice, and is retried a second later") {
  struct Expectation {
    int code;
    Status status;
    const char* advice;
  };
  for (const Expectation& expectation :
       {Expectation{9, Status::no_source, "modprobe nvidia"},
        Expectation{18, Status::backend, "reload the nvidia modules or reboot"},
        Expectation{4, Status::permission, "run as root"},
        Expectation{12, Status::no_source, "reinstall"},
        Expectation{17, Status::permission, "/dev/nvidia*"},
        Expectation{27, Status::backend, "try again"},
        Expectation{999, Status::backend, "dmesg"}}) {
    CAPTURE(expectation.code);
    Machine machine(one_gpu("", R"("rules": [{"call": "nvmlInit*", "result": )" +
                                    std::to_string(expectation.code) + "}]"));
    const OpeningTime opening;
    const auto result = machine.prepare();
    REQUIRE_FALSE(result);
    CHECK(result.failure().code == expectation.status);
    CHECK(result.failure().source == Source::nvml);
    CHECK(result.failure().native.domain == NativeDomain::nvml);
    CHECK(result.failure().native.code == expectation.code);
    CHECK(result.failure().message.view().find(expectation.advice) != std::string::npos);
    CHECK(machine.source().describe(Source::nvml).failure.native.code == expectation.code);
    CHECK_FALSE(machine.prepare());
    CHECK_FALSE(machine.prepare());
    CHECK((count_inits(machine) == 1 || !opening.is_recent()));
    CHECK(machine.reading.openings == machine.reading.closings);
  }
}

TEST_CASE("a driver that was repaired is found at the next try") {
  const hmn_fake::Tree folder;
  const std::string path = folder.path("libnvidia-ml.so.1");
  setenv("FAKE_NVML_SCENARIO", folder.path("scenario.json").c_str(), 1);
  folder.write("scenario.json", one_gpu("", R"("rules": [{"call": "nvmlInit*", "result": 18}])"));
  const std::string older = folder.path("older.so");
  std::filesystem::copy_file(HMN_FAKE_NVML, older);
  std::filesystem::rename(older, path);

  Settings settings = make_settings(folder);
  settings.nvml_path = path;
  PlainReading reading;
  Machine machine(one_gpu());
  machine.settings = settings;
  DeviceSource& source = machine.source();
  const OpeningTime opening;
  REQUIRE_FALSE(source.prepare(reading));
  CHECK_FALSE(is_mapped(path));

  folder.write("scenario.json", one_gpu());
  const std::string newer = folder.path("newer.so");
  std::filesystem::copy_file(HMN_FAKE_NVML, newer);
  std::filesystem::rename(newer, path);
  const bool is_repaired = static_cast<bool>(source.prepare(reading));
  CHECK((!is_repaired || !opening.is_recent()));
  wait_for_retry();
  require_ok(source.prepare(reading));
  CHECK(is_mapped(path));
  machine.restart();
  CHECK_FALSE(is_mapped(path));
  unsetenv("FAKE_NVML_SCENARIO");
}

// NVML's session with the kernel driver belongs to the parent, and its destructors would end it.
TEST_CASE("a forked child neither ends its parent's session nor unloads the library") {
  Machine machine(one_gpu());
  const std::string path = machine.tree.path("libnvidia-ml.so.1");
  std::filesystem::copy_file(HMN_FAKE_NVML, path);
  machine.settings.nvml_path = path;
  std::optional<FakeNvml> driver(path);
  driver->load(one_gpu());
  CHECK(machine.devices().size() == 1);
  CHECK(succeeds_in_child([&] {
    machine.restart();
    const bool is_running = driver->calls("nvmlShutdown") == 0 && driver->initialized() == 1;
    driver.reset();
    return is_running && is_mapped(path);
  }));
  CHECK(machine.devices().size() == 1);
  machine.restart();
  CHECK(driver->calls("nvmlShutdown") == 1);
  driver.reset();
  CHECK_FALSE(is_mapped(path));
}

TEST_CASE("a driver updated while the program runs is found with its new library") {
  const hmn_fake::Tree folder;
  const std::string path = folder.path("libnvidia-ml.so.1");
  const auto install = [&] {
    const std::string next = folder.path("next.so");
    std::filesystem::copy_file(HMN_FAKE_NVML, next);
    std::filesystem::rename(next, path);
  };
  install();
  Machine machine(one_gpu());
  machine.settings.nvml_path = path;
  setenv("FAKE_NVML_SCENARIO", folder.path("scenario.json").c_str(), 1);
  folder.write("scenario.json", one_gpu());
  CHECK(machine.devices().size() == 1);

  install();
  {
    const FakeNvml older(path);  // the one that the source has loaded
    older.load(one_gpu("", R"("rules": [{"call": "nvmlInit*", "result": 18}])"));
    older.driver_reload();
    PoolList none;
    const auto result = machine.memory(0, none);
    REQUIRE_FALSE(result);
    CHECK(result.failure().native.code == nvml::version_mismatch);
  }
  CHECK_FALSE(is_mapped(path));

  wait_for_retry();
  const auto devices = machine.devices();
  REQUIRE(devices.size() == 1);
  CHECK(devices[0].slot == 0);
  CHECK(machine.pool().used == 3584 * mib);
  machine.restart();
  unsetenv("FAKE_NVML_SCENARIO");
}

TEST_CASE("a missing library is reported as no_source, with the loader's message") {
  Machine machine(one_gpu());
  machine.settings.nvml_path = machine.tree.path("none/libnvidia-ml.so.1");
  require_ok(machine.source().probe());
  const auto result = machine.prepare();
  REQUIRE_FALSE(result);
  CHECK(result.failure().code == Status::no_source);
  CHECK(result.failure().message.view().find("none/libnvidia-ml.so.1") != std::string::npos);
  CHECK(result.failure().message.view().find("No such file") != std::string::npos);
  CHECK(machine.source().describe(Source::nvml).state == State::absent);
}

TEST_CASE("a file that is not a library, and a library that is not NVML, are failures") {
  Machine machine(one_gpu());
  machine.tree.write("text.so", "not a library");
  machine.settings.nvml_path = machine.tree.path("text.so");
  const auto text = machine.prepare();
  REQUIRE_FALSE(text);
  CHECK(text.failure().code == Status::backend);
  CHECK(text.failure().message.view().find("text.so") != std::string::npos);
  machine.restart();
  machine.settings.nvml_path = "libm.so.6";
  const auto other = machine.prepare();
  REQUIRE_FALSE(other);
  CHECK(other.failure().code == Status::backend);
  CHECK(other.failure().message.view().find("nvmlInit") != std::string::npos);
}

TEST_CASE("without a sign of an NVIDIA GPU the source is absent") {
  if (has_real_gpu()) {
    MESSAGE("skipped: this machine has one");
    return;
  }
  Machine machine(one_gpu());
  machine.settings.nvml_path.clear();
  const auto none = machine.source().probe();
  REQUIRE_FALSE(none);
  CHECK(none.failure().code == Status::no_source);
  CHECK(none.failure().message.view().find("no NVIDIA GPU") != std::string::npos);
  CHECK(machine.source().describe(Source::nvml).state == State::absent);
  machine.restart();
  SUBCASE("a card is on the bus") {
    hmn_fake::add_pci_device(machine.tree, {.address = "0000:01:00.0"});
  }
  SUBCASE("the kernel module is loaded") {
    machine.tree.directory("sys/module/nvidia");
  }
  SUBCASE("the driver's folder exists") {
    machine.tree.directory("proc/driver/nvidia");
  }
  require_ok(machine.source().probe());
}

TEST_CASE("for a card without its driver the message says what to install") {
  const hmn_fake::Tree tree;
  Settings settings = make_settings(tree);
  hmn_fake::PciDevice card{.address = "0000:41:00.0"};
  const char* advice = "install NVIDIA's driver";
  SUBCASE("no driver") {}
  SUBCASE("nouveau") {
    card.driver = "nouveau";
    advice = "nouveau";
  }
  SUBCASE("passed through to a virtual machine") {
    card.driver = "vfio-pci";
    advice = "virtual machine";
  }
  SUBCASE("kernel driver only") {
    card.driver = "nvidia";
    advice = "libnvidia-ml.so.1";
  }
  hmn_fake::add_pci_device(tree, card);
  const auto source = make_nvml(settings);
  require_ok(source->probe());
  PlainReading reading;
  const auto result = source->prepare(reading);
  if (result || result.failure().native.domain == NativeDomain::nvml) {
    MESSAGE("skipped: this machine has the library");
    return;
  }
  CHECK(result.failure().code == Status::no_source);
  CHECK(result.failure().message.view().size() < 256);
  CHECK(result.failure().message.view().find("0000:41:00.0") != std::string::npos);
  CHECK(result.failure().message.view().find(advice) != std::string::npos);
}

TEST_CASE("a reloaded driver is reopened within the reading, and slots are kept") {
  Machine machine(make_scenario(gpu(1) + "," + gpu(2)));
  const auto before = machine.devices();
  SUBCASE("noticed by the device list") {
    machine.driver.driver_reload();
    const auto after = machine.devices();
    REQUIRE(after.size() == 2);
    for (std::size_t i = 0; i < 2; ++i) {
      CHECK(after[i].slot == before[i].slot);
      CHECK(after[i].uuid == before[i].uuid);
      CHECK(after[i].state == State::ready);
    }
  }
  SUBCASE("noticed by a memory reading") {
    machine.driver.driver_reload();
    CHECK(machine.pool(1).used == 3584 * mib);
  }
  SUBCASE("noticed by a process list") {
    machine.driver.load(make_scenario(
        gpu(1, R"("processes": {"compute": [{"pid": 7, "used": 1}]})") + "," + gpu(2)));
    CHECK(machine.processes(0).size() == 1);
    machine.driver.driver_reload();
    CHECK(machine.processes(0).size() == 1);
  }
  SUBCASE("with the devices in another order") {
    machine.driver.load(make_scenario(gpu(2) + "," + gpu(1)));
    machine.driver.driver_reload();
    const auto after = machine.devices();
    REQUIRE(after.size() == 2);
    CHECK(after[0].slot == before[1].slot);
    CHECK(after[0].driver_index == 0);
    CHECK(after[1].slot == before[0].slot);
  }
  CHECK(count_inits(machine) == 2);
  CHECK(machine.driver.initialized() == 1);
}

TEST_CASE("a driver that stays unusable after a reload is a failure, not a loop") {
  Machine machine(one_gpu());
  machine.devices();
  machine.driver.load(
      one_gpu("", R"("rules": [{"call": "nvmlDevice*", "result": "UNINITIALIZED"}])"));
  PoolList none;
  const OpeningTime opening;
  const auto result = machine.memory(0, none);
  REQUIRE_FALSE(result);
  CHECK(result.failure().native.code == nvml::uninitialized);
  const auto init_count = count_inits(machine);
  for (int i = 0; i < 5; ++i) CHECK_FALSE(machine.memory(0, none));
  CHECK((count_inits(machine) == init_count || !opening.is_recent()));
}

TEST_CASE("a GPU added to the bus is found while NVML is open") {
  Machine machine(make_scenario(gpu(1)));
  hmn_fake::add_nvidia_information(machine.tree, {.address = "0000:01:00.0", .uuid = make_uuid(1)});
  CHECK(machine.devices().size() == 1);
  machine.driver.load(make_scenario(gpu(1) + "," + gpu(2)));
  hmn_fake::add_nvidia_information(machine.tree, {.address = "0000:02:00.0", .uuid = make_uuid(2)});
  wait_for_retry();
  const auto after = machine.devices();
  REQUIRE(after.size() == 2);
  CHECK(after[1].slot == 1);
  CHECK(count_inits(machine) == 2);
}
