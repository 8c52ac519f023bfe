// SPDX-License-Identifier: MIT OR Apache-2.0
//
// The vendor's own library, fetched next to the build: loaded where there is no driver.
#include <doctest/doctest.h>
#include <linux/capability.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <string>
#include <vector>

#include "backends/nvml/abi.hpp"
#include "backends/nvml/call.hpp"
#include "fake_tree.hpp"
#include "source/registry.hpp"

using namespace hmn;

namespace {

class QuietReading final : public Reading {
 public:
  [[nodiscard]] std::uint64_t deadline_ns() const noexcept override { return UINT64_MAX; }
  [[nodiscard]] bool wants_trace() const noexcept override { return true; }
  void diagnose(const Diagnostic& diagnostic) override {
    if ((diagnostic.notes & note::trace) != 0)
      calls.emplace_back(diagnostic.failure.message.view());
  }
  void begin_opening() noexcept override {}
  void end_opening() noexcept override {}

  std::vector<std::string> calls;
};

Settings vendor_settings(const hmn_fake::Tree& tree) {
  Settings settings;
  settings.nvml_path = HMN_VENDOR_NVML;
  settings.proc_root = tree.proc();
  settings.sys_root = tree.sys();
  return settings;
}

// As root the vendor's library makes /dev/nvidiactl when it is missing; a test leaves no traces.
// The folder may be accessible to root only, so the test stays root.
void drop_mknod_capability() {
  __user_cap_header_struct header = {_LINUX_CAPABILITY_VERSION_3, 0};
  __user_cap_data_struct sets[2] = {};
  REQUIRE(syscall(SYS_capget, &header, sets) == 0);
  sets[CAP_TO_INDEX(CAP_MKNOD)].effective &= ~CAP_TO_MASK(CAP_MKNOD);
  REQUIRE(syscall(SYS_capset, &header, sets) == 0);
}

}  // namespace

TEST_CASE("the vendor's library is loaded, and reports that no driver is loaded") {
  if (access("/proc/driver/nvidia", F_OK) == 0) {
    MESSAGE("skipped: this machine has the driver");
    return;
  }
  const bool had_node = access("/dev/nvidiactl", F_OK) == 0;
  const hmn_fake::Tree tree;
  drop_mknod_capability();
  const auto source = make_nvml(vendor_settings(tree));
  REQUIRE(static_cast<bool>(source->probe()));
  QuietReading reading;
  const auto ready = source->prepare(reading);
  REQUIRE_FALSE(ready);
  CHECK(ready.failure().code == Status::no_source);
  CHECK(ready.failure().native.domain == NativeDomain::nvml);
  CHECK(ready.failure().native.code == nvml::driver_not_loaded);
  CHECK(ready.failure().message.view().find("modprobe nvidia") != std::string::npos);
  REQUIRE(reading.calls.size() == 1);
  CHECK(reading.calls[0].starts_with("nvmlInitWithFlags: the NVIDIA driver is not loaded"));
  std::vector<Device> devices;
  CHECK_FALSE(source->devices(devices, reading));
  CHECK(devices.empty());
  CHECK((access("/dev/nvidiactl", F_OK) == 0) == had_node);
}

TEST_CASE("the vendor's library has the functions that are looked up") {
  const hmn_fake::Tree tree;
  const Settings settings = vendor_settings(tree);
  auto library = nvml::open_library(settings);
  REQUIRE(static_cast<bool>(library));
  nvml::Symbols symbols;
  symbols.find(*library);
  CHECK(static_cast<bool>(symbols.init_with_flags));
  CHECK(static_cast<bool>(symbols.count));
  CHECK(static_cast<bool>(symbols.memory_v2));
  CHECK(symbols.compute.generation == 0);
  CHECK(symbols.mps.generation == 0);
  CHECK(symbols.graphics.generation == 0);
  CHECK(symbols.pci.generation == 0);
  CHECK(static_cast<bool>(symbols.mig_by_index));
  CHECK(static_cast<bool>(symbols.fields));
}
