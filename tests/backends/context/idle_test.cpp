// SPDX-License-Identifier: MIT OR Apache-2.0
//
// Rule: a vendor library stays open only while none of its devices can runtime-suspend; else it is
// shut down soon after the last reading, and not opened again while a device sleeps.
#include <doctest/doctest.h>
#include <unistd.h>

#include "machine.hpp"

namespace {

void add_card(const Machine& m, const char* control, const char* status) {
  hmn_fake::PciDevice card;
  card.address = "0000:01:00.0";
  card.vendor = 0x10de;
  card.device = 0x26b9;
  card.power_control = control;
  card.runtime_status = status;
  hmn_fake::add_pci_device(m.tree(), card);
}

void set_status(const Machine& m, const char* status) {
  m.tree().write("sys/bus/pci/devices/0000:01:00.0/power/runtime_status",
                 std::string(status) + "\n");
}

bool closes(const FakeNvml& nvml) {
  return comes_true([&] { return nvml.initialized() == 0; });
}

hmn_status idle_pool(const Machine& m) {
  auto pool = sized<hmn_pool>();
  return hmn_pool_read(m.context(), 0, HMN_POOL_MAIN, 0, 0, &pool, nullptr);
}

}  // namespace

TEST_CASE("a card that never sleeps keeps the library open") {
  const FakeNvml nvml;
  nvml.load(one_gpu());
  const Machine m({.idle_close_ns = HMN_MILLISECONDS(50)});
  add_card(m, "on", "active");
  REQUIRE(idle_pool(m) == HMN_OK);
  usleep(400'000);
  CHECK(nvml.initialized() == 1);
  REQUIRE(idle_pool(m) == HMN_OK);
  CHECK(nvml.calls("nvmlInitWithFlags") == 1);
}

TEST_CASE("a card that may sleep has the library shut after the idle time, and opened again") {
  const FakeNvml nvml;
  nvml.load(one_gpu());
  const Machine m({.idle_close_ns = HMN_MILLISECONDS(100)});
  add_card(m, "auto", "active");
  const std::uint64_t begun = now_ns();
  REQUIRE(idle_pool(m) == HMN_OK);
  const bool is_open = nvml.initialized() == 1;
  CHECK((is_open || now_ns() - begun >= 100'000'000));
  CHECK(closes(nvml));
  const auto opened = nvml.calls("nvmlInitWithFlags");
  REQUIRE(idle_pool(m) == HMN_OK);
  CHECK(nvml.calls("nvmlInitWithFlags") == opened + 1);
}

TEST_CASE("a sleeping card is listed as asleep and not woken") {
  const FakeNvml nvml;
  nvml.load(one_gpu());
  SUBCASE("seen awake before") {
    const Machine m({.idle_close_ns = HMN_MILLISECONDS(50)});
    add_card(m, "auto", "active");
    REQUIRE(idle_pool(m) == HMN_OK);
    REQUIRE(closes(nvml));
    set_status(m, "suspended");
    const auto opened = nvml.calls("nvmlInitWithFlags");
    const TakenSnapshot p(m.context());
    REQUIRE(p.info().device_count == 1);
    CHECK(p.device(0).state == HMN_RUN_STATE_ASLEEP);
    CHECK(std::string(p.device(0).uuid) == "GPU-11111111-2222-3333-4444-555555555555");
    REQUIRE(p.pools().size() == 1);
    for (const hmn_pool& pool : p.pools()) {
      CHECK((pool.present & (HMN_POOL_HAS_USED | HMN_POOL_HAS_FREE)) == 0);
      CHECK(pool.total_bytes == 48318382080);
    }
    CHECK(nvml.calls("nvmlInitWithFlags") == opened);
    SUBCASE("and is read again once it wakes") {
      set_status(m, "active");
      const TakenSnapshot awake(m.context());
      CHECK(awake.device(0).state == HMN_RUN_STATE_READY);
      CHECK(awake.pools().at(0).used_bytes == one_gpu_used);
    }
  }
  SUBCASE("never seen awake") {
    const Machine m;
    add_card(m, "auto", "suspended");
    const TakenSnapshot p(m.context());
    REQUIRE(p.info().device_count == 1);
    CHECK(p.device(0).state == HMN_RUN_STATE_ASLEEP);
    CHECK(std::string(p.device(0).pci_bus_id) == "0000:01:00.0");
    CHECK(nvml.calls("nvmlInitWithFlags") == 0);
    CHECK(idle_pool(m) == HMN_E_ASLEEP);
  }
  SUBCASE("woken when the context says so") {
    const Machine m({.flags = HMN_CONTEXT_WAKE_DEVICES});
    add_card(m, "auto", "suspended");
    CHECK(idle_pool(m) == HMN_OK);
  }
}

TEST_CASE("readings without end keep no card awake that has nothing to do") {
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
  const Machine m(
      {.flags = flags, .stale_ns = HMN_MILLISECONDS(100), .idle_close_ns = HMN_MILLISECONDS(100)});
  add_card(m, "auto", "active");
  { const TakenSnapshot first(m.context(), HMN_COLLECT_POOLS); }
  auto pool = sized<hmn_pool>();
  // Faster than the library is shut down: each reading is fresh until the card is left alone.
  const std::uint64_t begun = now_ns();
  do {
    REQUIRE(hmn_pool_read(m.context(), 0, HMN_POOL_MAIN, 0, 0, &pool, nullptr) == HMN_OK);
    usleep(20'000);
  } while ((pool.notes & HMN_NOTE_STALE) == 0 &&
           now_ns() - begun < patient_ms * std::uint64_t{1'000'000});
  REQUIRE((pool.notes & HMN_NOTE_STALE) != 0);
  CHECK(nvml.initialized() == 0);
  CHECK(pool.used_bytes == 10737418240);
  CHECK(pool.age_ns > 0);
  const auto opened = nvml.calls("nvmlInitWithFlags");
  const TakenSnapshot p(m.context(), HMN_COLLECT_POOLS);
  CHECK(p.device(0).state == HMN_RUN_STATE_READY);
  CHECK(std::string(p.device(0).name) == "Idle");
  bool is_reported = false;
  for (const hmn_diagnostic& d : p.diagnostics()) is_reported |= d.status == HMN_E_ASLEEP;
  CHECK(is_reported);
  usleep(200'000);  // a rest outlasts stale_ns
  CHECK(hmn_pool_read(m.context(), 0, HMN_POOL_MAIN, 0, 0, &pool, nullptr) == HMN_OK);
  CHECK(pool.age_ns > 200'000'000);
  auto load = sized<hmn_telemetry>();
  CHECK(hmn_telemetry_read(m.context(), 0, 0, &load, nullptr) == HMN_E_ASLEEP);  // never read
  set_status(m, "suspended");
  const TakenSnapshot asleep(m.context());
  CHECK(asleep.device(0).state == HMN_RUN_STATE_ASLEEP);
  CHECK(asleep.pools().at(0).total_bytes == 48318382080);
  CHECK(nvml.calls("nvmlInitWithFlags") == opened);
}

TEST_CASE("without threads a card that may sleep has the library shut after each reading") {
  const FakeNvml nvml;
  nvml.load(one_gpu());
  const Machine m({.flags = HMN_CONTEXT_NO_THREADS});
  add_card(m, "auto", "active");
  REQUIRE(idle_pool(m) == HMN_OK);
  CHECK(nvml.initialized() == 0);
}
