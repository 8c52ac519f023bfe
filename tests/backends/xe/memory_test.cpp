// SPDX-License-Identifier: MIT OR Apache-2.0
#include <cerrno>

#include "../intel/cards.hpp"

using namespace hmn;
using namespace intel_test;
using drm_test::card0;
using drm_test::kib;
using drm_test::mib;
using drm_test::render128;

namespace {

// 8 GiB of RAM that may be mapped; two tiles of 4 and 2 GiB, both wholly visible.
const std::string two_tiles = "node renderD128 xe\n" + region(0, 0, 8 * gib, 7 * mib, 0, 0) +
                              region(1, 1, 4 * gib, 3 * mib, 4 * gib, mib) +
                              region(1, 2, 2 * gib, 5 * mib, 2 * gib, 2 * mib);

std::string make_scenario(const char* rule) {
  std::string scenario = "perfmon\n" + two_tiles;
  return scenario.insert(scenario.find(" xe\n") + 3, std::string(" ") + rule);
}

std::string format_client(const char* id, const char* vram, const char* gtt) {
  return std::string("drm-driver:\txe\ndrm-client-id:\t") + id +
         "\ndrm-pdev:\t0000:03:00.0\ndrm-total-system:\t0\ndrm-resident-system:\t0\n" +
         "drm-total-gtt:\t" + gtt + "\ndrm-shared-gtt:\t0\ndrm-resident-gtt:\t" + gtt +
         "\ndrm-total-vram0:\t" + vram + "\ndrm-shared-vram0:\t0\ndrm-resident-vram0:\t" + vram +
         "\ndrm-total-vram1:\t1 MiB\ndrm-shared-vram1:\t0\ndrm-resident-vram1:\t1 MiB\n"
         "drm-total-stolen:\t0\ndrm-resident-stolen:\t0\n" +
         "drm-cycles-rcs:\t28257900\ndrm-total-cycles-rcs:\t7655183225\n";
}

void add_clients(Machine& machine) {
  machine.add_process(10, {{3, "/dev/null", format_client("1", "23992 KiB", "192 KiB")}});
  machine.add_process(11, {{3, "/dev/null", format_client("2", "8 KiB", "8 KiB")}});
}

}  // namespace

TEST_CASE("with CAP_PERFMON the kernel reports memory in use, summed over the tiles") {
  Machine machine;
  machine.add_pci(intel_card("xe"), {card0, render128});
  fake_drm_load(("perfmon\n" + two_tiles).c_str());
  const MemoryReading memory = read_memory(machine);
  REQUIRE(memory.result);
  const Pool* const vram = memory.find(PoolKind::main);
  REQUIRE(vram != nullptr);
  CHECK(vram->kind == PoolKind::vram);
  CHECK(vram->source == Source::xe);
  CHECK(vram->total == 6 * gib);
  CHECK(vram->used == 8 * mib);
  CHECK(vram->free == 6 * gib - 8 * mib);
  CHECK(vram->notes == 0);
  CHECK(memory.find(PoolKind::vram_visible)->total == 6 * gib);
  CHECK(memory.find(PoolKind::vram_visible)->used == 3 * mib);
  const Pool* const host = memory.find(PoolKind::host);
  REQUIRE(host != nullptr);
  CHECK(host->total == 8 * gib);
  CHECK(host->used == 7 * mib);
  CHECK(host->notes == 0);
  CHECK_FALSE(host->is_main);
  CHECK(fake_drm_log() == one_query_log);
  CHECK(fake_drm_open_nodes() == 0);
  CHECK(memory.reading.find(Status::permission) == nullptr);
}

TEST_CASE("xe: each tile's memory is a part of the VRAM") {
  Machine machine;
  machine.add_pci(intel_card("xe"), {card0, render128});
  fake_drm_load(("perfmon\n" + two_tiles).c_str());
  const MemoryReading memory = read_memory(machine);
  REQUIRE(memory.result);
  const Pool* const first = memory.find(PoolKind::vram, 1);
  const Pool* const second = memory.find(PoolKind::vram, 2);
  REQUIRE(first != nullptr);
  REQUIRE(second != nullptr);
  CHECK(first->total == 4 * gib);
  CHECK(first->used == 3 * mib);
  CHECK(second->total == 2 * gib);
  CHECK(second->free == 2 * gib - 5 * mib);
  CHECK_FALSE(first->is_main);
  // The parts of the main pool are found as its parts.
  CHECK(memory.find(PoolKind::main, 2) == second);
  CHECK(memory.find(PoolKind::vram, 3) == nullptr);
  CHECK(memory.find(PoolKind::host, 1) == nullptr);
}

TEST_CASE("xe: a card with one tile has no parts") {
  Machine machine;
  machine.add_pci(intel_card("xe"), {card0, render128});
  fake_drm_load(("perfmon\nnode renderD128 xe\n" + region(0, 0, 8 * gib, 0, 0, 0) +
                 region(1, 1, 4 * gib, 3 * mib, 256 * mib, 0))
                    .c_str());
  const MemoryReading memory = read_memory(machine);
  REQUIRE(memory.result);
  CHECK(memory.find(PoolKind::vram)->total == 4 * gib);
  CHECK(memory.find(PoolKind::vram, 1) == nullptr);
}

TEST_CASE("without CAP_PERFMON used memory is a lower bound from clients, not 0") {
  Machine machine;
  machine.add_pci(intel_card("xe"), {card0, render128});
  fake_drm_load(two_tiles.c_str());
  const MemoryReading memory_without_clients = read_memory(machine);
  REQUIRE(memory_without_clients.result);
  CHECK(memory_without_clients.find(PoolKind::vram)->total == 6 * gib);
  CHECK_FALSE(memory_without_clients.find(PoolKind::vram)->used);
  CHECK_FALSE(memory_without_clients.find(PoolKind::vram_visible)->used);
  CHECK_FALSE(memory_without_clients.find(PoolKind::host)->used);
  const Diagnostic* const diagnostic = memory_without_clients.reading.find("CAP_PERFMON");
  REQUIRE(diagnostic != nullptr);
  CHECK(diagnostic->failure.code == Status::permission);
  CHECK(diagnostic->field == (pool_field::used | pool_field::free));
  CHECK(fake_drm_log() == one_query_log);
  add_clients(machine);
  const MemoryReading memory = read_memory(machine);
  CHECK(memory.find(PoolKind::vram)->total == 6 * gib);
  CHECK(memory.find(PoolKind::vram)->used == 24000 * kib + 2 * mib);
  CHECK((memory.find(PoolKind::vram)->notes & note::lower_bound) != 0);
  CHECK(memory.find(PoolKind::host)->used == 200 * kib);
  CHECK((memory.find(PoolKind::host)->notes & note::lower_bound) != 0);
  CHECK(fake_drm_log() == std::string());
}

TEST_CASE("with CAP_PERFMON a region that is unused has 0 bytes in use") {
  Machine machine;
  machine.add_pci(intel_card("xe"), {card0, render128});
  fake_drm_load(("perfmon\nnode renderD128 xe\n" + region(0, 0, 8 * gib, 0, 0, 0) +
                 region(1, 1, 4 * gib, 3 * mib, 256 * mib, 0))
                    .c_str());
  const MemoryReading memory = read_memory(machine);
  CHECK(memory.find(PoolKind::host)->used == 0u);
  CHECK(memory.find(PoolKind::vram_visible)->used == 0u);
  CHECK(memory.find(PoolKind::vram_visible)->total == 256 * mib);
}

TEST_CASE("an integrated device has a unified pool and no VRAM") {
  for (const bool perfmon : {true, false}) {
    CAPTURE(perfmon);
    Machine machine;
    machine.add_pci(intel_card("xe", first_bus_address), {card0, render128});
    const std::string text =
        "drm-driver:\txe\ndrm-client-id:\t7\ndrm-pdev:\t0000:00:02.0\ndrm-total-system:\t8 KiB\n"
        "drm-resident-system:\t8 KiB\ndrm-total-gtt:\t192 KiB\ndrm-resident-gtt:\t192 KiB\n"
        "drm-total-stolen:\t0\ndrm-resident-stolen:\t0\n";
    machine.add_process(10, {{3, "/dev/null", text}});
    fake_drm_load((std::string(perfmon ? "perfmon\n" : "") + "node renderD128 xe\n" +
                   region(0, 0, 16 * gib, 300 * mib, 0, 0))
                      .c_str());
    PlainReading reading;
    const auto devices = machine.devices(reading);
    REQUIRE(devices.size() == 1);
    CHECK(devices[0].source == Source::xe);
    CHECK(devices[0].form == DeviceForm::integrated);
    CHECK(devices[0].memory_kind == MemoryKind::unified);
    const MemoryReading memory = read_memory(machine);
    REQUIRE(memory.result);
    REQUIRE(memory.pools.all().size() == 1);
    const Pool& pool = memory.pools.all()[0];
    CHECK(pool.kind == PoolKind::unified);
    CHECK_FALSE(pool.total);
    CHECK(pool.used == (perfmon ? 300 * mib : 200 * kib));
    CHECK(((pool.notes & note::lower_bound) != 0) == !perfmon);
    CHECK((memory.reading.find("CAP_PERFMON") != nullptr) == !perfmon);
    const auto rows = machine.rows(0, reading);
    REQUIRE(rows.size() == 1);
    CHECK(rows[0].used == 200 * kib);
  }
}

TEST_CASE("a sleeping card is left alone: neither its node nor its clients are read") {
  Machine machine;
  hmn_fake::PciDevice card = intel_card("xe");
  card.runtime_status = "suspended";
  machine.add_pci(card, {card0, render128});
  add_clients(machine);
  fake_drm_load(("perfmon\n" + two_tiles).c_str());
  const MemoryReading asleep = read_memory(machine);
  REQUIRE_FALSE(asleep.result);
  CHECK(asleep.result.failure().code == Status::asleep);
  CHECK(asleep.result.failure().source == Source::xe);
  PlainReading reading;
  CHECK(machine.rows(0, reading).empty());
  CHECK(fake_drm_log() == std::string());
  const std::string power = "sys/" + hmn_fake::pci_folder(card.address) + "/power/runtime_status";
  machine.tree().write(power, "active\n");
  REQUIRE(read_memory(machine).result);
  machine.tree().write(power, "suspended\n");
  static_cast<void>(fake_drm_log());
  const MemoryReading again = read_memory(machine);
  REQUIRE(again.result);
  CHECK(again.find(PoolKind::vram)->total == 6 * gib);
  CHECK_FALSE(again.find(PoolKind::vram)->used);
  CHECK(fake_drm_log() == std::string());
  Machine integrated_machine(false);
  hmn_fake::PciDevice integrated = intel_card("xe", first_bus_address);
  integrated.runtime_status = "suspended";
  integrated_machine.add_pci(integrated, {card0, render128});
  const MemoryReading unified = read_memory(integrated_machine);
  REQUIRE(unified.result);
  CHECK(unified.find(PoolKind::unified) != nullptr);
  CHECK_FALSE(unified.find(PoolKind::unified)->used);
  CHECK(unified.reading.find(Status::asleep) != nullptr);
  CHECK(fake_drm_log() == std::string());
}

TEST_CASE("a failed query is reported with its reason, and clients still count") {
  struct QueryFailure {
    const char* rule;
    Status code;
  };
  const QueryFailure failures[] = {
      {"open=13", Status::permission},   {"open=19", Status::device_lost},
      {"ioctl=22", Status::unsupported}, {"ioctl=25", Status::unsupported},
      {"ioctl=1", Status::permission},   {"ioctl=125", Status::backend},  // ECANCELED: wedged
      {"ioctl=19", Status::device_lost}, {"interrupt=100000", Status::backend},
      {"needed=9", Status::unsupported}, {"needed=4294967295", Status::backend},
      {"count=5", Status::backend},
  };
  for (const QueryFailure& failure : failures) {
    CAPTURE(failure.rule);
    Machine machine;
    machine.add_pci(intel_card("xe"), {card0, render128});
    fake_drm_load(make_scenario(failure.rule).c_str());
    const MemoryReading none = read_memory(machine);
    REQUIRE_FALSE(none.result);
    CHECK(none.result.failure().code == failure.code);
    CHECK(fake_drm_open_nodes() == 0);
    add_clients(machine);
    const MemoryReading some = read_memory(machine);
    REQUIRE(some.result);
    CHECK_FALSE(some.find(PoolKind::vram)->total);
    CHECK(some.find(PoolKind::vram)->used == 24000 * kib + 2 * mib);
    CHECK(some.reading.find(failure.code) != nullptr);
  }
}

TEST_CASE("an interrupted request and an answer that grows are retried") {
  Machine machine;
  machine.add_pci(intel_card("xe"), {card0, render128});
  fake_drm_load(make_scenario("interrupt=3 grow=1").c_str());
  const MemoryReading memory = read_memory(machine);
  REQUIRE(memory.result);
  CHECK(memory.find(PoolKind::vram)->total == 6 * gib);
  CHECK(fake_drm_open_nodes() == 0);
}
