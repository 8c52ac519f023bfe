// SPDX-License-Identifier: MIT OR Apache-2.0
#include "loaded_nvml.hpp"

using fake_nvml::event_data;
using fake_nvml::event_set_handle;
using selftest::loaded_nvml;

namespace {

constexpr unsigned at_once = 0;
constexpr const char* two_event_gpus = R"({"devices": [{"event_types": 8, "xids": [31, 79]},
                                                 {"event_types": 8}, {"event_types": 4}, {}]})";

event_set_handle new_set(const loaded_nvml& nvml) {
  event_set_handle set = nullptr;
  REQUIRE(nvml("nvmlEventSetCreate", &set) == fake_nvml::success);
  return set;
}

fake_nvml::status enter(const loaded_nvml& nvml, unsigned device, event_set_handle set) {
  return nvml("nvmlDeviceRegisterEvents", nvml.gpu(device), fake_nvml::event_xid, set);
}

fake_nvml::status next(const loaded_nvml& nvml, event_set_handle set, event_data& to,
                       const char* symbol = "nvmlEventSetWait_v2") {
  return nvml(symbol, set, &to, at_once);
}

void raise(const loaded_nvml& nvml, unsigned device, unsigned long long xid) {
  REQUIRE(nvml.call<int(unsigned, unsigned long long)>("fake_nvml_raise")(device, xid) == 0);
}

}  // namespace

TEST_CASE("nvml_events: an Xid is told once, in order, to those who registered before it came") {
  const loaded_nvml nvml;
  nvml.start(two_event_gpus);
  const event_set_handle first = new_set(nvml);
  const event_set_handle second = new_set(nvml);
  event_data reported{};
  raise(nvml, 0, 13);
  CHECK(enter(nvml, 0, first) == fake_nvml::success);
  CHECK(enter(nvml, 1, second) == fake_nvml::success);
  raise(nvml, 1, 48);
  for (const unsigned long long xid : {31, 79}) {
    REQUIRE(next(nvml, first, reported) == fake_nvml::success);
    CHECK(reported.device == nvml.gpu(0));
    CHECK(reported.type == fake_nvml::event_xid);
    CHECK(reported.data == xid);
    CHECK(reported.gpu_instance == ~0U);
  }
  CHECK(next(nvml, first, reported) == fake_nvml::error_timeout);
  REQUIRE(next(nvml, second, reported) == fake_nvml::success);
  CHECK(reported.device == nvml.gpu(1));
  CHECK(reported.data == 48);
  CHECK(next(nvml, second, reported) == fake_nvml::error_timeout);
}

TEST_CASE("nvml_events: a device registers what it has alone") {
  const loaded_nvml nvml;
  nvml.start(two_event_gpus);
  const event_set_handle set = new_set(nvml);
  unsigned long long types = 0;
  CHECK(nvml("nvmlDeviceGetSupportedEventTypes", nvml.gpu(2), &types) == fake_nvml::success);
  CHECK(types == 4);
  CHECK(enter(nvml, 2, set) == fake_nvml::error_not_supported);
  CHECK(enter(nvml, 3, set) == fake_nvml::error_not_supported);
}

TEST_CASE("nvml_events: the first generation writes what it knew") {
  const loaded_nvml nvml;
  nvml.start(two_event_gpus);
  const event_set_handle set = new_set(nvml);
  CHECK(enter(nvml, 0, set) == fake_nvml::success);
  event_data reported{};
  reported.gpu_instance = 7;
  CHECK(next(nvml, set, reported, "nvmlEventSetWait") == fake_nvml::success);
  CHECK(reported.data == 31);
  CHECK(reported.gpu_instance == 7);
}

TEST_CASE("nvml_events: a set that was freed, or is of an ended session, is none") {
  const loaded_nvml nvml;
  nvml.start(two_event_gpus);
  const auto sets = nvml.call<int()>("fake_nvml_event_sets");
  event_data reported{};
  const event_set_handle freed = new_set(nvml);
  CHECK(sets() == 1);
  CHECK(nvml("nvmlEventSetFree", freed) == fake_nvml::success);
  CHECK(sets() == 0);
  CHECK(nvml("nvmlEventSetFree", freed) == fake_nvml::error_invalid_argument);
  const event_set_handle ended = new_set(nvml);
  nvml.call<void()>("fake_nvml_driver_reload")();
  CHECK(next(nvml, ended, reported) == fake_nvml::error_uninitialized);
  REQUIRE(nvml("nvmlInit_v2") == fake_nvml::success);
  CHECK(next(nvml, ended, reported) == fake_nvml::error_invalid_argument);
}
