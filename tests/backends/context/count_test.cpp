// SPDX-License-Identifier: MIT OR Apache-2.0
//
// Rule: a count of 0 with HMN_OK is proven. If no device is known and a source failed in a way
// that proves nothing, the failure is the result.
#include <doctest/doctest.h>

#include <string>

#include "machine.hpp"

namespace {

constexpr const char* mismatch = R"({"rules": [{"call": "nvmlInit*", "result": 18}]})";

struct DeviceCount {
  hmn_status status;
  std::uint32_t count = 99;
  hmn_error error = sized<hmn_error>();

  explicit DeviceCount(const Machine& machine) {
    status = hmn_device_scan(machine.context(), &count, nullptr, &error);
    CAPTURE(error.message);
    CHECK(error.status == status);
  }
  [[nodiscard]] bool mentions(const char* text) const {
    return std::string(error.message).find(text) != std::string::npos;
  }
};

void add_foreign_card(const Machine& machine) {
  const std::string node = "sys/class/drm/renderD128/";
  machine.tree().write(node + "dev", "226:128\n");
  machine.tree().write(node + "device/uevent", "DRIVER=virtio_gpu\nPCI_SLOT_NAME=0000:00:02.0\n");
  machine.tree().write(node + "device/vendor", "0x1af4\n");
}

}  // namespace

TEST_CASE("a driver that does not match its library hides devices: no count is returned") {
  const FakeNvml nvml;
  nvml.load(mismatch);
  const Machine machine;
  const DeviceCount none(machine);
  CHECK(none.status == HMN_E_BACKEND);
  CHECK(none.count == 0);
  CHECK(none.error.backend == HMN_BACKEND_NVML);
  CHECK(none.error.native_code == 18);
  CHECK(none.mentions("driver library and kernel module differ"));

  SUBCASE("other calls that need a device fail the same way") {
    auto pool = sized<hmn_pool>();
    CHECK(hmn_pool_read(machine.context(), 0, HMN_POOL_MAIN, 0, 0, &pool, nullptr) ==
          HMN_E_BACKEND);
    std::uint32_t index = 99;
    CHECK(hmn_device_find(machine.context(), "driver:nvidia:0", &index, nullptr) == HMN_E_BACKEND);
    CHECK(index == 0);
  }
  SUBCASE("a snapshot is returned, with the reason") {
    const Snapshot snapshot(machine.context());
    CHECK(snapshot.info().device_count == 0);
    CHECK((snapshot.info().notes & HMN_NOTE_PARTIAL) != 0);
    REQUIRE(!snapshot.diagnostics().empty());
    CHECK(snapshot.diagnostics()[0].status == HMN_E_BACKEND);
  }
}

TEST_CASE("a library that cannot be loaded hides devices: no count is returned") {
  const Machine machine({}, false);
  machine.tree().write("no/libnvidia-ml.so.1", "no library");
  const DeviceCount none(machine);
  CHECK(none.status == HMN_E_BACKEND);
  CHECK(none.count == 0);
  CHECK(none.mentions("libnvidia-ml.so.1"));
}

TEST_CASE("with another vendor's device known, the failure of a leftover library is ignored") {
  const FakeNvml nvml;
  nvml.load(mismatch);
  const Machine machine;
  add_foreign_card(machine);
  const DeviceCount devices(machine);
  CHECK(devices.status == HMN_OK);
  CHECK(devices.count == 1);
}

TEST_CASE("a library not installed, or a driver not loaded, means a count of 0") {
  const FakeNvml nvml;
  nvml.load(R"({"rules": [{"call": "nvmlInit*", "result": "DRIVER_NOT_LOADED"}]})");
  bool is_installed = false;
  SUBCASE("not installed") {}
  SUBCASE("not loaded") {
    is_installed = true;
  }
  const Machine machine({}, is_installed);
  const DeviceCount none(machine);
  CHECK(none.status == HMN_OK);
  CHECK(none.count == 0);
}
