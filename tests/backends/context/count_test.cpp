// SPDX-License-Identifier: MIT OR Apache-2.0
//
// Rule: a count of 0 with HMN_OK is proven. Where no device is known and a source failed in a way
// that proves nothing, the failure is the result.
#include <doctest/doctest.h>

#include <string>

#include "machine.hpp"

namespace {

constexpr const char* mismatch = R"({"rules": [{"call": "nvmlInit*", "result": 18}]})";

struct Counted {
  hmn_status status;
  std::uint32_t count = 99;
  hmn_error error = sized<hmn_error>();

  explicit Counted(const Machine& m) {
    status = hmn_device_scan(m.context(), &count, nullptr, &error);
    CAPTURE(error.message);
    CHECK(error.status == status);
  }
  [[nodiscard]] bool says(const char* text) const {
    return std::string(error.message).find(text) != std::string::npos;
  }
};

void add_card_of_another_vendor(const Machine& m) {
  const std::string node = "sys/class/drm/renderD128/";
  m.tree().write(node + "dev", "226:128\n");
  m.tree().write(node + "device/uevent", "DRIVER=virtio_gpu\nPCI_SLOT_NAME=0000:00:02.0\n");
  m.tree().write(node + "device/vendor", "0x1af4\n");
}

}  // namespace

TEST_CASE("a driver that does not match its library hides devices: no count") {
  const FakeNvml nvml;
  nvml.load(mismatch);
  const Machine m;
  const Counted none(m);
  CHECK(none.status == HMN_E_BACKEND);
  CHECK(none.count == 0);
  CHECK(none.error.backend == HMN_BACKEND_NVML);
  CHECK(none.error.native_code == 18);
  CHECK(none.says("driver library and kernel module differ"));

  SUBCASE("nor another answer to what needs a device") {
    auto pool = sized<hmn_pool>();
    CHECK(hmn_pool_read(m.context(), 0, HMN_POOL_MAIN, 0, 0, &pool, nullptr) == HMN_E_BACKEND);
    std::uint32_t index = 99;
    CHECK(hmn_device_find(m.context(), "driver:nvidia:0", &index, nullptr) == HMN_E_BACKEND);
    CHECK(index == 0);
  }
  SUBCASE("but a snapshot, with the reason") {
    const TakenSnapshot p(m.context());
    CHECK(p.info().device_count == 0);
    CHECK((p.info().notes & HMN_NOTE_PARTIAL) != 0);
    REQUIRE(!p.diagnostics().empty());
    CHECK(p.diagnostics()[0].status == HMN_E_BACKEND);
  }
}

TEST_CASE("a library that cannot be loaded hides devices: no count") {
  const Machine m({}, false);
  m.tree().write("no/libnvidia-ml.so.1", "no library");
  const Counted none(m);
  CHECK(none.status == HMN_E_BACKEND);
  CHECK(none.count == 0);
  CHECK(none.says("libnvidia-ml.so.1"));
}

TEST_CASE(
    "a device of another vendor is known: what the left-over library fails with is no matter") {
  const FakeNvml nvml;
  nvml.load(mismatch);
  const Machine m;
  add_card_of_another_vendor(m);
  const Counted one(m);
  CHECK(one.status == HMN_OK);
  CHECK(one.count == 1);
}

TEST_CASE("a library that is not installed, and a driver that is not loaded, have no device") {
  const FakeNvml nvml;
  nvml.load(R"({"rules": [{"call": "nvmlInit*", "result": "DRIVER_NOT_LOADED"}]})");
  bool is_installed = false;
  SUBCASE("not installed") {}
  SUBCASE("not loaded") {
    is_installed = true;
  }
  const Machine m({}, is_installed);
  const Counted none(m);
  CHECK(none.status == HMN_OK);
  CHECK(none.count == 0);
}
