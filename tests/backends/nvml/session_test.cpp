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

void wait_for_another_try() {
  usleep(1'050'000);
}

std::string library_variant(const char* name) {
  return std::string(HMN_FAKE_NVML_FOLDER) + "/nvml-" + name + "/libnvidia-ml.so.1";
}

unsigned long long inits(const Machine& m) {
  return m.driver.calls("nvmlInitWithFlags") + m.driver.calls("nvmlInit_v2") +
         m.driver.calls("nvmlInit");
}

bool is_mapped(const std::string& path) {
  std::ifstream maps("/proc/self/maps");
  for (std::string line; std::getline(maps, line);) {
    if (line.find(path) != std::string::npos) return true;
  }
  return false;
}

// What a forked child reports.
template <class F>
bool holds_in_a_child(F&& what) {
  const pid_t child = fork();
  if (child == 0) _exit(what() ? 0 : 1);
  int ended = 0;
  REQUIRE(waitpid(child, &ended, 0) == child);
  return WIFEXITED(ended) && WEXITSTATUS(ended) == 0;
}

bool has_real_gpu() {
  return access("/dev/nvidiactl", F_OK) == 0 || access("/dev/dxg", F_OK) == 0 ||
         access("/dev/nvmap", F_OK) == 0;
}

}  // namespace

TEST_CASE("a driver that lists attached GPUs only is initialised at once") {
  for (const auto& [version, is_detached] :
       {std::pair{"580.159.04", false}, {"590.37", true}, {"", true}, {"unknown", true}}) {
    CAPTURE(version);
    Machine m(one_gpu());
    m.tree.write("sys/module/nvidia/version", version);
    require_ok(m.prepare());
    CHECK(m.driver.calls("nvmlInitWithFlags") == (is_detached ? 1 : 0));
    CHECK(m.driver.initialized() == 1);
  }
}

TEST_CASE("it is opened once, without attaching, and shut down at the end") {
  Machine m(one_gpu());
  for (int i = 0; i < 3; ++i) CHECK(m.devices().size() == 1);
  CHECK(m.pool().total.has_value());
  CHECK(inits(m) == 1);
  CHECK(m.driver.init_flags() == nvml::init_no_attach);
  CHECK(m.driver.initialized() == 1);
  CHECK(m.reading.openings == 1);
  CHECK(m.reading.closings == 1);
  CHECK(m.source().describe(Source::nvml).state == State::ready);
  CHECK(m.source().describe(Source::nvml).version.view() == "550.163.01");
  m.restart();
  CHECK(m.driver.initialized() == 0);
}

TEST_CASE("without the newer initialisations the older ones serve") {
  Machine m(one_gpu(), library_variant("no_init_with_flags"));
  CHECK(m.devices().size() == 1);
  CHECK(m.driver.calls("nvmlInit_v2") == 1);
}

TEST_CASE("a driver that counts too few GPUs without attaching is opened with it") {
  Machine m(machine_of(gpu(1) + "," + gpu(2)));
  hmn_fake::add_nvidia_information(m.tree, {.address = "0000:01:00.0", .uuid = uuid_of(1)});
  hmn_fake::add_nvidia_information(m.tree, {.address = "0000:02:00.0", .uuid = uuid_of(2)});
  hmn_fake::add_nvidia_information(m.tree, {.address = "0000:03:00.0", .uuid = uuid_of(3)});
  CHECK(m.devices().size() == 2);
  CHECK(m.driver.calls("nvmlInitWithFlags") == 1);
  CHECK(m.driver.calls("nvmlInit_v2") == 1);
  CHECK(m.driver.initialized() == 1);
}

TEST_CASE("flags that the driver refuses are left out") {
  for (const char* refusal : {"INVALID_ARGUMENT", "NOT_SUPPORTED", "GPU_NOT_FOUND"}) {
    Machine m(one_gpu("", R"("rules": [{"call": "nvmlInitWithFlags", "result": ")" +
                              std::string(refusal) + "\"}]"));
    CHECK(m.devices().size() == 1);
    CHECK(m.driver.calls("nvmlInit_v2") == 1);
  }
}

TEST_CASE("a failed opening has its code, a sentence, and is tried again a second later") {
  struct Expectation {
    int code;
    Status means;
    const char* advice;
  };
  for (const Expectation& e :
       {Expectation{9, Status::no_source, "modprobe nvidia"},
        Expectation{18, Status::backend, "reload the nvidia modules or reboot"},
        Expectation{4, Status::permission, "run as root"},
        Expectation{12, Status::no_source, "reinstall"},
        Expectation{17, Status::permission, "/dev/nvidia*"},
        Expectation{27, Status::backend, "try again"},
        Expectation{999, Status::backend, "dmesg"}}) {
    CAPTURE(e.code);
    Machine m(one_gpu(
        "", R"("rules": [{"call": "nvmlInit*", "result": )" + std::to_string(e.code) + "}]"));
    const MomentOfOpening opening;
    const auto done = m.prepare();
    REQUIRE_FALSE(done);
    CHECK(done.why().code == e.means);
    CHECK(done.why().from == Source::nvml);
    CHECK(done.why().native.domain == NativeDomain::nvml);
    CHECK(done.why().native.code == e.code);
    CHECK(done.why().message.view().find(e.advice) != std::string::npos);
    CHECK(m.source().describe(Source::nvml).why.native.code == e.code);
    CHECK_FALSE(m.prepare());
    CHECK_FALSE(m.prepare());
    CHECK((inits(m) == 1 || !opening.is_recent()));
    CHECK(m.reading.openings == m.reading.closings);
  }
}

TEST_CASE("what was repaired meanwhile is found at the next try") {
  const hmn_fake::Tree folder;
  const std::string path = folder.path("libnvidia-ml.so.1");
  setenv("FAKE_NVML_SCENARIO", folder.path("scenario.json").c_str(), 1);
  folder.write("scenario.json", one_gpu("", R"("rules": [{"call": "nvmlInit*", "result": 18}])"));
  const std::string older = folder.path("older.so");
  std::filesystem::copy_file(HMN_FAKE_NVML, older);
  std::filesystem::rename(older, path);

  Settings s = settings_of(folder);
  s.nvml_path = path;
  PlainReading r;
  Machine unused(one_gpu());
  unused.settings = s;
  DeviceSource& source = unused.source();
  const MomentOfOpening opening;
  REQUIRE_FALSE(source.prepare(r));
  CHECK_FALSE(is_mapped(path));

  folder.write("scenario.json", one_gpu());
  const std::string newer = folder.path("newer.so");
  std::filesystem::copy_file(HMN_FAKE_NVML, newer);
  std::filesystem::rename(newer, path);
  const bool is_repaired = static_cast<bool>(source.prepare(r));
  CHECK((!is_repaired || !opening.is_recent()));
  wait_for_another_try();
  require_ok(source.prepare(r));
  CHECK(is_mapped(path));
  unused.restart();
  CHECK_FALSE(is_mapped(path));
  unsetenv("FAKE_NVML_SCENARIO");
}

// What NVML knows of the kernel driver is the parent's, and so is what its destructors would end.
TEST_CASE("a forked child neither ends its parent's session nor unloads the library") {
  Machine m(one_gpu());
  const std::string path = m.tree.path("libnvidia-ml.so.1");
  std::filesystem::copy_file(HMN_FAKE_NVML, path);
  m.settings.nvml_path = path;
  std::optional<FakeNvml> driver(path);
  driver->load(one_gpu());
  CHECK(m.devices().size() == 1);
  CHECK(holds_in_a_child([&] {
    m.restart();
    const bool goes_on = driver->calls("nvmlShutdown") == 0 && driver->initialized() == 1;
    driver.reset();
    return goes_on && is_mapped(path);
  }));
  CHECK(m.devices().size() == 1);
  m.restart();
  CHECK(driver->calls("nvmlShutdown") == 1);
  driver.reset();
  CHECK_FALSE(is_mapped(path));
}

TEST_CASE("a driver that is updated under the program is found with its new library") {
  const hmn_fake::Tree folder;
  const std::string path = folder.path("libnvidia-ml.so.1");
  const auto install = [&] {
    const std::string next = folder.path("next.so");
    std::filesystem::copy_file(HMN_FAKE_NVML, next);
    std::filesystem::rename(next, path);
  };
  install();
  Machine m(one_gpu());
  m.settings.nvml_path = path;
  setenv("FAKE_NVML_SCENARIO", folder.path("scenario.json").c_str(), 1);
  folder.write("scenario.json", one_gpu());
  CHECK(m.devices().size() == 1);

  install();
  {
    const FakeNvml older(path);  // the one that the source has loaded
    older.load(one_gpu("", R"("rules": [{"call": "nvmlInit*", "result": 18}])"));
    older.driver_reload();
    Pools none;
    const auto done = m.memory(0, none);
    REQUIRE_FALSE(done);
    CHECK(done.why().native.code == nvml::version_mismatch);
  }
  CHECK_FALSE(is_mapped(path));

  wait_for_another_try();
  const auto found = m.devices();
  REQUIRE(found.size() == 1);
  CHECK(found[0].number == 0);
  CHECK(m.pool().used == 3584 * mib);
  m.restart();
  unsetenv("FAKE_NVML_SCENARIO");
}

TEST_CASE("a library that is not there is no source, in the loader's words") {
  Machine m(one_gpu());
  m.settings.nvml_path = m.tree.path("none/libnvidia-ml.so.1");
  require_ok(m.source().probe());
  const auto done = m.prepare();
  REQUIRE_FALSE(done);
  CHECK(done.why().code == Status::no_source);
  CHECK(done.why().message.view().find("none/libnvidia-ml.so.1") != std::string::npos);
  CHECK(done.why().message.view().find("No such file") != std::string::npos);
  CHECK(m.source().describe(Source::nvml).state == State::absent);
}

TEST_CASE("a file that is no library, and a library that is not NVML") {
  Machine m(one_gpu());
  m.tree.write("text.so", "not a library");
  m.settings.nvml_path = m.tree.path("text.so");
  const auto text = m.prepare();
  REQUIRE_FALSE(text);
  CHECK(text.why().code == Status::backend);
  CHECK(text.why().message.view().find("text.so") != std::string::npos);
  m.restart();
  m.settings.nvml_path = "libm.so.6";
  const auto other = m.prepare();
  REQUIRE_FALSE(other);
  CHECK(other.why().code == Status::backend);
  CHECK(other.why().message.view().find("nvmlInit") != std::string::npos);
}

TEST_CASE("without any sign of an NVIDIA GPU there is none") {
  if (has_real_gpu()) {
    MESSAGE("skipped: this machine has one");
    return;
  }
  Machine m(one_gpu());
  m.settings.nvml_path.clear();
  const auto none = m.source().probe();
  REQUIRE_FALSE(none);
  CHECK(none.why().code == Status::no_source);
  CHECK(none.why().message.view().find("no NVIDIA GPU") != std::string::npos);
  CHECK(m.source().describe(Source::nvml).state == State::absent);
  m.restart();
  SUBCASE("a card on the bus") {
    hmn_fake::add_pci_device(m.tree, {.address = "0000:01:00.0"});
  }
  SUBCASE("the kernel module") {
    m.tree.directory("sys/module/nvidia");
  }
  SUBCASE("the driver's folder") {
    m.tree.directory("proc/driver/nvidia");
  }
  require_ok(m.source().probe());
}

TEST_CASE("a card without its driver has a sentence that says what to install") {
  const hmn_fake::Tree tree;
  Settings s = settings_of(tree);
  hmn_fake::PciDevice card{.address = "0000:41:00.0"};
  const char* advice = "install NVIDIA's driver";
  SUBCASE("no driver") {}
  SUBCASE("nouveau") {
    card.driver = "nouveau";
    advice = "nouveau";
  }
  SUBCASE("given to a virtual machine") {
    card.driver = "vfio-pci";
    advice = "virtual machine";
  }
  SUBCASE("its kernel driver alone") {
    card.driver = "nvidia";
    advice = "libnvidia-ml.so.1";
  }
  hmn_fake::add_pci_device(tree, card);
  const auto source = make_nvml(s);
  require_ok(source->probe());
  PlainReading r;
  const auto done = source->prepare(r);
  if (done || done.why().native.domain == NativeDomain::nvml) {
    MESSAGE("skipped: this machine has the library");
    return;
  }
  CHECK(done.why().code == Status::no_source);
  CHECK(done.why().message.view().size() < 256);
  CHECK(done.why().message.view().find("0000:41:00.0") != std::string::npos);
  CHECK(done.why().message.view().find(advice) != std::string::npos);
}

TEST_CASE("a reloaded driver is opened again within the reading, and slots hold") {
  Machine m(machine_of(gpu(1) + "," + gpu(2)));
  const auto before = m.devices();
  SUBCASE("seen by the list") {
    m.driver.driver_reload();
    const auto after = m.devices();
    REQUIRE(after.size() == 2);
    for (std::size_t i = 0; i < 2; ++i) {
      CHECK(after[i].number == before[i].number);
      CHECK(after[i].uuid == before[i].uuid);
      CHECK(after[i].state == State::ready);
    }
  }
  SUBCASE("seen by a value") {
    m.driver.driver_reload();
    CHECK(m.pool(1).used == 3584 * mib);
  }
  SUBCASE("seen by a list of processes") {
    m.driver.load(
        machine_of(gpu(1, R"("processes": {"compute": [{"pid": 7, "used": 1}]})") + "," + gpu(2)));
    CHECK(m.processes(0).size() == 1);
    m.driver.driver_reload();
    CHECK(m.processes(0).size() == 1);
  }
  SUBCASE("in another order") {
    m.driver.load(machine_of(gpu(2) + "," + gpu(1)));
    m.driver.driver_reload();
    const auto after = m.devices();
    REQUIRE(after.size() == 2);
    CHECK(after[0].number == before[1].number);
    CHECK(after[0].driver_index == 0);
    CHECK(after[1].number == before[0].number);
  }
  CHECK(inits(m) == 2);
  CHECK(m.driver.initialized() == 1);
}

TEST_CASE("a driver that stays unusable after a reload is a failure, not a loop") {
  Machine m(one_gpu());
  m.devices();
  m.driver.load(one_gpu("", R"("rules": [{"call": "nvmlDevice*", "result": "UNINITIALIZED"}])"));
  Pools none;
  const MomentOfOpening opening;
  const auto done = m.memory(0, none);
  REQUIRE_FALSE(done);
  CHECK(done.why().native.code == nvml::uninitialized);
  const auto tried = inits(m);
  for (int i = 0; i < 5; ++i) CHECK_FALSE(m.memory(0, none));
  CHECK((inits(m) == tried || !opening.is_recent()));
}

TEST_CASE("a GPU that appears on the bus is found though NVML was open") {
  Machine m(machine_of(gpu(1)));
  hmn_fake::add_nvidia_information(m.tree, {.address = "0000:01:00.0", .uuid = uuid_of(1)});
  CHECK(m.devices().size() == 1);
  m.driver.load(machine_of(gpu(1) + "," + gpu(2)));
  hmn_fake::add_nvidia_information(m.tree, {.address = "0000:02:00.0", .uuid = uuid_of(2)});
  wait_for_another_try();
  const auto after = m.devices();
  REQUIRE(after.size() == 2);
  CHECK(after[1].number == 1);
  CHECK(inits(m) == 2);
}
