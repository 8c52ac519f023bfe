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

class quiet_reading final : public reading {
 public:
  [[nodiscard]] std::uint64_t deadline_ns() const noexcept override { return UINT64_MAX; }
  [[nodiscard]] bool wants_trace() const noexcept override { return true; }
  void diagnose(const diagnostic& d) override {
    if ((d.notes & note::trace) != 0) calls.emplace_back(d.why.message.view());
  }
  void opening() noexcept override {}
  void opened() noexcept override {}

  std::vector<std::string> calls;
};

settings vendor_settings(const hmn_fake::tree& tree) {
  settings s;
  s.nvml_path = HMN_VENDOR_NVML;
  s.proc_root = tree.proc();
  s.sys_root = tree.sys();
  return s;
}

// As root the vendor's library makes /dev/nvidiactl when it is missing; a test leaves no traces.
// The folder may be accessible to root only, so the test stays root.
void give_up_making_nodes() {
  __user_cap_header_struct header = {_LINUX_CAPABILITY_VERSION_3, 0};
  __user_cap_data_struct sets[2] = {};
  REQUIRE(syscall(SYS_capget, &header, sets) == 0);
  sets[CAP_TO_INDEX(CAP_MKNOD)].effective &= ~CAP_TO_MASK(CAP_MKNOD);
  REQUIRE(syscall(SYS_capset, &header, sets) == 0);
}

}  // namespace

TEST_CASE("the vendor's library is loaded, and reports that no driver is") {
  if (access("/proc/driver/nvidia", F_OK) == 0) {
    MESSAGE("skipped: this machine has the driver");
    return;
  }
  const bool had_node = access("/dev/nvidiactl", F_OK) == 0;
  const hmn_fake::tree tree;
  give_up_making_nodes();
  const auto source = make_nvml(vendor_settings(tree));
  REQUIRE(static_cast<bool>(source->probe()));
  quiet_reading r;
  const auto ready = source->prepare(r);
  REQUIRE_FALSE(ready);
  CHECK(ready.why().code == status::no_source);
  CHECK(ready.why().native.domain == native_domain::nvml);
  CHECK(ready.why().native.code == nvml::driver_not_loaded);
  CHECK(ready.why().message.view().find("modprobe nvidia") != std::string::npos);
  REQUIRE(r.calls.size() == 1);
  CHECK(r.calls[0].starts_with("nvmlInitWithFlags: the NVIDIA driver is not loaded"));
  std::vector<device> none;
  CHECK_FALSE(source->devices(none, r));
  CHECK(none.empty());
  CHECK((access("/dev/nvidiactl", F_OK) == 0) == had_node);
}

TEST_CASE("the vendor's library has the functions that are looked up") {
  const hmn_fake::tree tree;
  const settings s = vendor_settings(tree);
  auto library = nvml::open_library(s);
  REQUIRE(static_cast<bool>(library));
  nvml::symbols fn;
  fn.find(*library);
  CHECK(static_cast<bool>(fn.init_with_flags));
  CHECK(static_cast<bool>(fn.count));
  CHECK(static_cast<bool>(fn.memory_v2));
  CHECK(fn.compute.generation == 0);
  CHECK(fn.mps.generation == 0);
  CHECK(fn.graphics.generation == 0);
  CHECK(fn.pci.generation == 0);
  CHECK(static_cast<bool>(fn.mig_by_index));
  CHECK(static_cast<bool>(fn.fields));
}
