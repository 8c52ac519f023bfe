// SPDX-License-Identifier: MIT OR Apache-2.0
#include "loaded_nvml.hpp"

using fake_nvml::EventData;
using fake_nvml::EventSetHandle;
using selftest::LoadedNvml;

namespace {

constexpr unsigned at_once = 0;
constexpr const char* two_event_gpus = R"({"devices": [{"event_types": 8, "xids": [31, 79]},
                                                 {"event_types": 8}, {"event_types": 4}, {}]})";

EventSetHandle new_set(const LoadedNvml& nvml) {
  EventSetHandle set = nullptr;
  REQUIRE(nvml("nvmlEventSetCreate", &set) == fake_nvml::success);
  return set;
}

fake_nvml::Status enter(const LoadedNvml& nvml, unsigned device, EventSetHandle set) {
  return nvml("nvmlDeviceRegisterEvents", nvml.gpu(device), fake_nvml::event_xid, set);
}

fake_nvml::Status next(const LoadedNvml& nvml, EventSetHandle set, EventData& to,
                       const char* symbol = "nvmlEventSetWait_v2") {
  return nvml(symbol, set, &to, at_once);
}

void raise(const LoadedNvml& nvml, unsigned device, unsigned long long xid) {
  REQUIRE(nvml.call<int(unsigned, unsigned long long)>("fake_nvml_raise")(device, xid) == 0);
}

}  // namespace

TEST_CASE("nvml_events: an Xid is told once, in order, to those who registered before it came") {
  const LoadedNvml nvml;
  nvml.start(two_event_gpus);
  const EventSetHandle first = new_set(nvml);
  const EventSetHandle second = new_set(nvml);
  EventData reported{};
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
  const LoadedNvml nvml;
  nvml.start(two_event_gpus);
  const EventSetHandle set = new_set(nvml);
  unsigned long long types = 0;
  CHECK(nvml("nvmlDeviceGetSupportedEventTypes", nvml.gpu(2), &types) == fake_nvml::success);
  CHECK(types == 4);
  CHECK(enter(nvml, 2, set) == fake_nvml::error_not_supported);
  CHECK(enter(nvml, 3, set) == fake_nvml::error_not_supported);
}

TEST_CASE("nvml_events: the first generation writes what it knew") {
  const LoadedNvml nvml;
  nvml.start(two_event_gpus);
  const EventSetHandle set = new_set(nvml);
  CHECK(enter(nvml, 0, set) == fake_nvml::success);
  EventData reported{};
  reported.gpu_instance = 7;
  CHECK(next(nvml, set, reported, "nvmlEventSetWait") == fake_nvml::success);
  CHECK(reported.data == 31);
  CHECK(reported.gpu_instance == 7);
}

TEST_CASE("nvml_events: a set that was freed, or is of an ended session, is none") {
  const LoadedNvml nvml;
  nvml.start(two_event_gpus);
  const auto sets = nvml.call<int()>("fake_nvml_event_sets");
  EventData reported{};
  const EventSetHandle freed = new_set(nvml);
  CHECK(sets() == 1);
  CHECK(nvml("nvmlEventSetFree", freed) == fake_nvml::success);
  CHECK(sets() == 0);
  CHECK(nvml("nvmlEventSetFree", freed) == fake_nvml::error_invalid_argument);
  const EventSetHandle ended = new_set(nvml);
  nvml.call<void()>("fake_nvml_driver_reload")();
  CHECK(next(nvml, ended, reported) == fake_nvml::error_uninitialized);
  REQUIRE(nvml("nvmlInit_v2") == fake_nvml::success);
  CHECK(next(nvml, ended, reported) == fake_nvml::error_invalid_argument);
}
