// SPDX-License-Identifier: MIT OR Apache-2.0
//
// Rule: a vendor library stays open if none of its devices can runtime-suspend. Otherwise it is
// shut down soon after the last reading, and not opened again while a device sleeps.
#include <doctest/doctest.h>
#include <unistd.h>

#include "machine.hpp"

namespace {

void add_card(const Machine& machine, const char* control, const char* status) {
  hmn_fake::PciDevice card;
  card.address = "0000:01:00.0";
  card.vendor = 0x10de;
  card.device = 0x26b9;
  card.power_control = control;
  card.runtime_status = status;
  hmn_fake::add_pci_device(machine.tree(), card);
}

void set_status(const Machine& machine, const char* status) {
  machine.tree().write("sys/bus/pci/devices/0000:01:00.0/power/runtime_status",
                       std::string(status) + "\n");
}

bool wait_for_close(const FakeNvml& nvml) {
  return becomes_true([&] { return nvml.initialized() == 0; });
}

hmn_status read_idle_pool(const Machine& machine) {
  auto pool = sized<hmn_pool>();
  return hmn_pool_read(machine.context(), 0, HMN_POOL_MAIN, 0, 0, &pool, nullptr);
}

}  // namespace

TEST_CASE("a card that never sleeps keeps the library open") {
  const FakeNvml nvml;
  nvml.load(one_gpu());
  const Machine machine({.idle_close_ns = HMN_MILLISECONDS(50)});
  add_card(machine, "on", "active");
  REQUIRE(read_idle_pool(machine) == HMN_OK);
  usleep(400'000);
  CHECK(nvml.initialized() == 1);
  REQUIRE(read_idle_pool(machine) == HMN_OK);
  CHECK(nvml.calls("nvmlInitWithFlags") == 1);
}

TEST_CASE("for a card that may sleep the library is closed after the idle time, and reopened") {
  const FakeNvml nvml;
  nvml.load(one_gpu());
  const Machine machine({.idle_close_ns = HMN_MILLISECONDS(100)});
  add_card(machine, "auto", "active");
  const std::uint64_t start_ns = now_ns();
  REQUIRE(read_idle_pool(machine) == HMN_OK);
  const bool is_open = nvml.initialized() == 1;
  CHECK((is_open || now_ns() - start_ns >= 100'000'000));
  CHECK(wait_for_close(nvml));
  const auto opened = nvml.calls("nvmlInitWithFlags");
  REQUIRE(read_idle_pool(machine) == HMN_OK);
  CHECK(nvml.calls("nvmlInitWithFlags") == opened + 1);
}

TEST_CASE("a sleeping card is listed as asleep and not woken") {
  const FakeNvml nvml;
  nvml.load(one_gpu());
  SUBCASE("a card that was seen awake") {
    const Machine machine({.idle_close_ns = HMN_MILLISECONDS(50)});
    add_card(machine, "auto", "active");
    REQUIRE(read_idle_pool(machine) == HMN_OK);
    REQUIRE(wait_for_close(nvml));
    set_status(machine, "suspended");
    const auto opened = nvml.calls("nvmlInitWithFlags");
    const Snapshot snapshot(machine.context());
    REQUIRE(snapshot.info().device_count == 1);
    CHECK(snapshot.device(0).state == HMN_RUN_STATE_ASLEEP);
    CHECK(std::string(snapshot.device(0).uuid) == "GPU-11111111-2222-3333-4444-555555555555");
    REQUIRE(snapshot.pools().size() == 1);
    for (const hmn_pool& pool : snapshot.pools()) {
      CHECK((pool.present & (HMN_POOL_HAS_USED | HMN_POOL_HAS_FREE)) == 0);
      CHECK(pool.total_bytes == 48318382080);
    }
    CHECK(nvml.calls("nvmlInitWithFlags") == opened);
    SUBCASE("it is read again once it wakes") {
      set_status(machine, "active");
      const Snapshot awake(machine.context());
      CHECK(awake.device(0).state == HMN_RUN_STATE_READY);
      CHECK(awake.pools().at(0).used_bytes == one_gpu_used);
    }
  }
  SUBCASE("a card that was never seen awake") {
    const Machine machine;
    add_card(machine, "auto", "suspended");
    const Snapshot snapshot(machine.context());
    REQUIRE(snapshot.info().device_count == 1);
    CHECK(snapshot.device(0).state == HMN_RUN_STATE_ASLEEP);
    CHECK(std::string(snapshot.device(0).pci_bus_id) == "0000:01:00.0");
    CHECK(nvml.calls("nvmlInitWithFlags") == 0);
    CHECK(read_idle_pool(machine) == HMN_E_ASLEEP);
  }
  SUBCASE("a card that the context may wake") {
    const Machine machine({.flags = HMN_CONTEXT_WAKE_DEVICES});
    add_card(machine, "auto", "suspended");
    CHECK(read_idle_pool(machine) == HMN_OK);
  }
}

TEST_CASE("continuous readings do not keep an idle card awake") {
  const FakeNvml nvml;
  nvml.load(R"({"driver_version": "550.163.01", "devices": [{
    "name": "Idle", "uuid": "GPU-11111111-2222-3333-4444-555555555555",
    "pci": {"address": "00000000:01:00.0"}, "utilization": {"gpu": 0, "memory": 0},
    "memory": {"total": 48318382080, "free": 37580963840, "used": 10737418240},
    "processes": {"compute": [], "graphics": [], "mps": []}}]})");
  hmn_flags flags = 0;
  SUBCASE("on a worker") {}
  SUBCASE("on the caller's thread") {
    flags = HMN_CONTEXT_NO_THREADS;
  }
  const Machine machine(
      {.flags = flags, .stale_ns = HMN_MILLISECONDS(100), .idle_close_ns = HMN_MILLISECONDS(100)});
  add_card(machine, "auto", "active");
  { const Snapshot first(machine.context(), HMN_COLLECT_POOLS); }
  auto pool = sized<hmn_pool>();
  // Readings are more frequent than the idle time: each is fresh until the card is left idle.
  const std::uint64_t start_ns = now_ns();
  do {
    REQUIRE(hmn_pool_read(machine.context(), 0, HMN_POOL_MAIN, 0, 0, &pool, nullptr) == HMN_OK);
    usleep(20'000);
  } while ((pool.notes & HMN_NOTE_STALE) == 0 &&
           now_ns() - start_ns < patient_ms * std::uint64_t{1'000'000});
  REQUIRE((pool.notes & HMN_NOTE_STALE) != 0);
  CHECK(nvml.initialized() == 0);
  CHECK(pool.used_bytes == 10737418240);
  CHECK(pool.age_ns > 0);
  const auto opened = nvml.calls("nvmlInitWithFlags");
  const Snapshot snapshot(machine.context(), HMN_COLLECT_POOLS);
  CHECK(snapshot.device(0).state == HMN_RUN_STATE_READY);
  CHECK(std::string(snapshot.device(0).name) == "Idle");
  bool is_reported = false;
  for (const hmn_diagnostic& diagnostic : snapshot.diagnostics())
    is_reported |= diagnostic.status == HMN_E_ASLEEP;
  CHECK(is_reported);
  usleep(200'000);  // a back-off outlasts stale_ns
  CHECK(hmn_pool_read(machine.context(), 0, HMN_POOL_MAIN, 0, 0, &pool, nullptr) == HMN_OK);
  CHECK(pool.age_ns > 200'000'000);
  auto load = sized<hmn_telemetry>();
  CHECK(hmn_telemetry_read(machine.context(), 0, 0, &load, nullptr) == HMN_E_ASLEEP);  // never read
  set_status(machine, "suspended");
  const Snapshot asleep(machine.context());
  CHECK(asleep.device(0).state == HMN_RUN_STATE_ASLEEP);
  CHECK(asleep.pools().at(0).total_bytes == 48318382080);
  CHECK(nvml.calls("nvmlInitWithFlags") == opened);
}

TEST_CASE("without threads the library is closed after each reading of a card that may sleep") {
  const FakeNvml nvml;
  nvml.load(one_gpu());
  const Machine machine({.flags = HMN_CONTEXT_NO_THREADS});
  add_card(machine, "auto", "active");
  REQUIRE(read_idle_pool(machine) == HMN_OK);
  CHECK(nvml.initialized() == 0);
}
