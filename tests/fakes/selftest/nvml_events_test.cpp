// SPDX-License-Identifier: MIT OR Apache-2.0
#include "loaded_nvml.hpp"

using fake_nvml::EventData;
using fake_nvml::EventSetHandle;
using selftest::LoadedNvml;

namespace {

constexpr unsigned no_wait = 0;
constexpr const char* two_event_gpus = R"({"devices": [{"event_types": 8, "xids": [31, 79]},
                                                 {"event_types": 8}, {"event_types": 4}, {}]})";

EventSetHandle create_set(const LoadedNvml& nvml) {
  EventSetHandle set = nullptr;
  REQUIRE(nvml("nvmlEventSetCreate", &set) == fake_nvml::success);
  return set;
}

fake_nvml::Status register_device(const LoadedNvml& nvml, unsigned device, EventSetHandle set) {
  return nvml("nvmlDeviceRegisterEvents", nvml.gpu(device), fake_nvml::event_xid, set);
}

fake_nvml::Status wait_event(const LoadedNvml& nvml, EventSetHandle set, EventData& event,
                             const char* symbol = "nvmlEventSetWait_v2") {
  return nvml(symbol, set, &event, no_wait);
}

void raise_xid(const LoadedNvml& nvml, unsigned device, unsigned long long xid) {
  REQUIRE(nvml.find_function<int(unsigned, unsigned long long)>("fake_nvml_raise")(device, xid) ==
          0);
}

}  // namespace

TEST_CASE("nvml_events: each Xid is delivered once and in order to the sets registered before it") {
  const LoadedNvml nvml;
  nvml.start(two_event_gpus);
  const EventSetHandle first = create_set(nvml);
  const EventSetHandle second = create_set(nvml);
  EventData event{};
  raise_xid(nvml, 0, 13);
  CHECK(register_device(nvml, 0, first) == fake_nvml::success);
  CHECK(register_device(nvml, 1, second) == fake_nvml::success);
  raise_xid(nvml, 1, 48);
  for (const unsigned long long xid : {31, 79}) {
    REQUIRE(wait_event(nvml, first, event) == fake_nvml::success);
    CHECK(event.device == nvml.gpu(0));
    CHECK(event.type == fake_nvml::event_xid);
    CHECK(event.data == xid);
    CHECK(event.gpu_instance == ~0U);
  }
  CHECK(wait_event(nvml, first, event) == fake_nvml::error_timeout);
  REQUIRE(wait_event(nvml, second, event) == fake_nvml::success);
  CHECK(event.device == nvml.gpu(1));
  CHECK(event.data == 48);
  CHECK(wait_event(nvml, second, event) == fake_nvml::error_timeout);
}

TEST_CASE("nvml_events: a device registers only events that it supports") {
  const LoadedNvml nvml;
  nvml.start(two_event_gpus);
  const EventSetHandle set = create_set(nvml);
  unsigned long long types = 0;
  CHECK(nvml("nvmlDeviceGetSupportedEventTypes", nvml.gpu(2), &types) == fake_nvml::success);
  CHECK(types == 4);
  CHECK(register_device(nvml, 2, set) == fake_nvml::error_not_supported);
  CHECK(register_device(nvml, 3, set) == fake_nvml::error_not_supported);
}

TEST_CASE("nvml_events: nvmlEventSetWait writes only the fields of its version") {
  const LoadedNvml nvml;
  nvml.start(two_event_gpus);
  const EventSetHandle set = create_set(nvml);
  CHECK(register_device(nvml, 0, set) == fake_nvml::success);
  EventData event{};
  event.gpu_instance = 7;
  CHECK(wait_event(nvml, set, event, "nvmlEventSetWait") == fake_nvml::success);
  CHECK(event.data == 31);
  CHECK(event.gpu_instance == 7);
}

TEST_CASE("nvml_events: a set that was freed or is from an ended session is invalid") {
  const LoadedNvml nvml;
  nvml.start(two_event_gpus);
  const auto sets = nvml.find_function<int()>("fake_nvml_event_sets");
  EventData event{};
  const EventSetHandle freed = create_set(nvml);
  CHECK(sets() == 1);
  CHECK(nvml("nvmlEventSetFree", freed) == fake_nvml::success);
  CHECK(sets() == 0);
  CHECK(nvml("nvmlEventSetFree", freed) == fake_nvml::error_invalid_argument);
  const EventSetHandle old_set = create_set(nvml);
  nvml.find_function<void()>("fake_nvml_driver_reload")();
  CHECK(wait_event(nvml, old_set, event) == fake_nvml::error_uninitialized);
  REQUIRE(nvml("nvmlInit_v2") == fake_nvml::success);
  CHECK(wait_event(nvml, old_set, event) == fake_nvml::error_invalid_argument);
}
