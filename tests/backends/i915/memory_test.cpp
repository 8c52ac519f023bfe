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

// 16 GiB of RAM; two tiles of 4 and 2 GiB with 256 MiB visible to the host each.
const std::string two_tiles = "node renderD128 i915\n" + region(0, 0, 16 * gib, 0, 16 * gib, 0) +
                              region(1, 0, 4 * gib, 3 * mib, 256 * mib, mib) +
                              region(1, 1, 2 * gib, 5 * mib, 256 * mib, 2 * mib);

std::string format_client(const char* id, const char* local, const char* system) {
  return std::string("drm-driver:\ti915\ndrm-client-id:\t") + id +
         "\ndrm-pdev:\t0000:03:00.0\ndrm-total-system0:\t" + system +
         "\ndrm-shared-system0:\t0\ndrm-resident-system0:\t" + system + "\ndrm-total-local0:\t" +
         local + "\ndrm-shared-local0:\t0\ndrm-resident-local0:\t" + local +
         "\ndrm-engine-render:\t5 ns\n";
}

void add_clients(Machine& machine) {
  machine.add_process(10, {{3, "/dev/null", format_client("1", "100 KiB", "8 KiB")},
                           {4, "/dev/null", format_client("1", "100 KiB", "8 KiB")}});
  machine.add_process(11, {{3, "/dev/null", format_client("2", "20 KiB", "4 KiB")}});
}

}  // namespace

TEST_CASE("with CAP_PERFMON the kernel reports memory in use, summed over the tiles") {
  Machine machine;
  machine.add_pci(intel_card("i915"), {card0, render128});
  fake_drm_load(("perfmon\n" + two_tiles).c_str());
  const MemoryReading memory = read_memory(machine);
  REQUIRE(memory.result);
  const Pool* const vram = memory.find(PoolKind::main);
  REQUIRE(vram != nullptr);
  CHECK(vram->kind == PoolKind::vram);
  CHECK(vram->source == Source::i915);
  CHECK(vram->total == 6 * gib);
  CHECK(vram->used == 8 * mib);
  CHECK(vram->free == 6 * gib - 8 * mib);
  CHECK(vram->accounting == Accounting::resident);
  CHECK(vram->notes == 0);
  const Pool* const visible = memory.find(PoolKind::vram_visible);
  REQUIRE(visible != nullptr);
  CHECK(visible->total == 512 * mib);
  CHECK(visible->used == 3 * mib);
  CHECK_FALSE(visible->is_main);
  CHECK(memory.find(PoolKind::host) == nullptr);
  CHECK(memory.find(PoolKind::unified) == nullptr);
  CHECK(fake_drm_log() == one_query_log);
  CHECK(fake_drm_open_nodes() == 0);
  CHECK(memory.reading.find("CAP_PERFMON") == nullptr);
  // Each reading queries again.
  REQUIRE(read_memory(machine).result);
  CHECK(fake_drm_log() == one_query_log);
}

TEST_CASE("without CAP_PERFMON the memory of clients is a lower bound, with a diagnostic") {
  Machine machine;
  machine.add_pci(intel_card("i915"), {card0, render128});
  add_clients(machine);
  fake_drm_load(two_tiles.c_str());
  const MemoryReading memory = read_memory(machine);
  REQUIRE(memory.result);
  const Pool* const vram = memory.find(PoolKind::vram);
  REQUIRE(vram != nullptr);
  CHECK(vram->total == 6 * gib);
  CHECK(vram->used == 120 * kib);  // each client once
  CHECK((vram->notes & note::lower_bound) != 0);
  CHECK_FALSE(vram->free);
  CHECK_FALSE(memory.find(PoolKind::vram_visible)->used);
  const Diagnostic* const diagnostic = memory.reading.find("CAP_PERFMON");
  REQUIRE(diagnostic != nullptr);
  CHECK(diagnostic->failure.code == Status::permission);
  CHECK(diagnostic->failure.source == Source::i915);
  CHECK(diagnostic->subject == subject::pools);
  CHECK(diagnostic->field == pool_field::free);
  CHECK(fake_drm_log() == one_query_log);
  // The sizes are known and this caller gets no more from the kernel: the node is not opened.
  const MemoryReading again = read_memory(machine);
  CHECK(again.find(PoolKind::vram)->total == 6 * gib);
  CHECK(again.find(PoolKind::vram)->used == 120 * kib);
  CHECK(again.reading.find("CAP_PERFMON") != nullptr);
  CHECK(fake_drm_log() == std::string());
}

TEST_CASE("without CAP_PERFMON and without clients no used memory is reported") {
  Machine machine;
  machine.add_pci(intel_card("i915"), {card0, render128});
  fake_drm_load(two_tiles.c_str());
  const MemoryReading memory = read_memory(machine);
  REQUIRE(memory.result);
  CHECK(memory.find(PoolKind::vram)->total == 6 * gib);
  CHECK_FALSE(memory.find(PoolKind::vram)->used);
  CHECK(memory.find(PoolKind::vram)->notes == 0);
  const Diagnostic* const diagnostic = memory.reading.find("CAP_PERFMON");
  REQUIRE(diagnostic != nullptr);
  CHECK(diagnostic->field == (pool_field::used | pool_field::free));
}

TEST_CASE("the node of a sleeping card is never opened") {
  Machine machine;
  hmn_fake::PciDevice card = intel_card("i915");
  card.runtime_status = "suspended";
  machine.add_pci(card, {card0, render128});
  add_clients(machine);
  fake_drm_load(("perfmon\n" + two_tiles).c_str());
  const MemoryReading asleep = read_memory(machine);
  REQUIRE_FALSE(asleep.result);
  CHECK(asleep.result.failure().code == Status::asleep);
  CHECK(fake_drm_log() == std::string());
  const std::string power = "sys/" + hmn_fake::pci_folder(card.address) + "/power/runtime_status";
  machine.tree().write(power, "active\n");
  REQUIRE(read_memory(machine).result);
  CHECK(fake_drm_log() == one_query_log);
  // Its sizes are known now; the memory in use is not.
  for (const char* state : {"suspended\n", "suspending\n"}) {
    machine.tree().write(power, state);
    const MemoryReading again = read_memory(machine);
    REQUIRE(again.result);
    CHECK(again.find(PoolKind::vram)->total == 6 * gib);
    CHECK_FALSE(again.find(PoolKind::vram)->used);
    REQUIRE(again.reading.find(Status::asleep) != nullptr);
    CHECK(again.reading.find("CAP_PERFMON") == nullptr);
    CHECK(fake_drm_log() == std::string());
  }
  Machine waking(true);
  waking.add_pci(card, {card0, render128});
  REQUIRE(read_memory(waking).result);
  CHECK(fake_drm_log() == one_query_log);
}

TEST_CASE("an integrated device has a unified pool and no VRAM") {
  Machine machine;
  machine.add_pci(intel_card("i915", first_bus_address), {card0, render128});
  const std::string text =
      "drm-driver:\ti915\ndrm-client-id:\t7\ndrm-pdev:\t0000:00:02.0\n"
      "drm-total-system0:\t6 MiB\ndrm-resident-system0:\t2 MiB\n"
      "drm-total-stolen-system0:\t64 KiB\ndrm-resident-stolen-system0:\t64 KiB\n";
  machine.add_process(10, {{3, "/dev/null", text}});
  fake_drm_load(
      ("perfmon\nnode renderD128 i915\n" + region(0, 0, 16 * gib, 0, 16 * gib, 0)).c_str());
  PlainReading reading;
  const auto devices = machine.devices(reading);
  REQUIRE(devices.size() == 1);
  CHECK(devices[0].source == Source::i915);
  CHECK(devices[0].form == DeviceForm::integrated);
  CHECK(devices[0].memory_kind == MemoryKind::unified);
  for (int i = 0; i < 2; ++i) {
    const MemoryReading memory = read_memory(machine);
    REQUIRE(memory.result);
    REQUIRE(memory.pools.all().size() == 1);
    const Pool& pool = memory.pools.all()[0];
    CHECK(pool.kind == PoolKind::unified);
    CHECK(pool.is_main);
    CHECK_FALSE(pool.total);  // the host's total, filled in by core
    CHECK(pool.used == 2 * mib + 64 * kib);
    CHECK((pool.notes & note::lower_bound) != 0);
    CHECK(fake_drm_log() == (i == 0 ? one_query_log : std::string()));
  }
  const auto rows = machine.rows(0, reading);
  REQUIRE(rows.size() == 1);
  CHECK(rows[0].used == 2 * mib + 64 * kib);
  CHECK(rows[0].source == Source::i915);
}

TEST_CASE("a card on the first bus is discrete if it has regions of its own or sensors") {
  Machine machine;
  machine.add_pci(intel_card("i915", "0000:00:05.0"), {card0, render128});
  fake_drm_load(("perfmon\n" + two_tiles).c_str());
  const MemoryReading memory = read_memory(machine);
  REQUIRE(memory.result);
  CHECK(memory.find(PoolKind::main)->kind == PoolKind::vram);
  CHECK(memory.find(PoolKind::main)->total == 6 * gib);
  PlainReading reading;
  CHECK(machine.devices(reading)[0].form == DeviceForm::discrete);
  Machine sensor_machine;
  hmn_fake::PciDevice card = intel_card("i915", first_bus_address);
  card.files = {{"hwmon/hwmon1/name", "i915\n"}};
  sensor_machine.add_pci(card, {card0, render128});
  CHECK(sensor_machine.devices(reading)[0].form == DeviceForm::discrete);
}

TEST_CASE("a failed query is reported with its reason, and clients still count") {
  struct QueryFailure {
    const char* rule;
    Status code;
    const char* words;
  };
  const QueryFailure failures[] = {
      {"open=13", Status::permission, "render"},         // EACCES
      {"open=1", Status::permission, "render"},          // EPERM
      {"open=19", Status::device_lost, "gone"},          // ENODEV
      {"open=24", Status::limit, "does not answer"},     // EMFILE
      {"ioctl=22", Status::unsupported, "this kernel"},  // EINVAL: before Linux 4.17
      {"ioctl=25", Status::unsupported, "this kernel"},  // ENOTTY
      {"ioctl=1", Status::permission, "may not"},        // EPERM: a sandbox
      {"ioctl=19", Status::device_lost, "gone"},         // ENODEV
      {"item=22", Status::unsupported, "this kernel"},   // EINVAL: before Linux 5.13
      {"item=19", Status::device_lost, "gone"},          // ENODEV
      {"item=100000", Status::backend, "does not answer"},
      {"interrupt=100000", Status::backend, "does not answer"},
      {"needed=1000000", Status::backend, "does not answer"},
      {"count=4", Status::backend, "without a memory region"},
      {"count=4294967295", Status::backend, "without a memory region"},
      {"length=15", Status::backend, "without a memory region"},
      {"length=150", Status::backend, "without a memory region"},
  };
  for (const QueryFailure& failure : failures) {
    CAPTURE(failure.rule);
    Machine machine;
    machine.add_pci(intel_card("i915"), {card0, render128});
    std::string scenario = "perfmon\n" + two_tiles;
    scenario.insert(scenario.find(" i915\n") + 5, std::string(" ") + failure.rule);
    fake_drm_load(scenario.c_str());
    const MemoryReading none = read_memory(machine);
    REQUIRE_FALSE(none.result);
    CHECK(none.result.failure().code == failure.code);
    CHECK(drm_test::mentions(none.result.failure(), failure.words));
    CHECK(fake_drm_open_nodes() == 0);
    add_clients(machine);
    const MemoryReading some = read_memory(machine);
    REQUIRE(some.result);
    CHECK_FALSE(some.find(PoolKind::vram)->total);
    CHECK(some.find(PoolKind::vram)->used == 120 * kib);
    CHECK((some.find(PoolKind::vram)->notes & note::lower_bound) != 0);
    const Diagnostic* const diagnostic = some.reading.find(failure.words);
    REQUIRE(diagnostic != nullptr);
    CHECK(diagnostic->field == (pool_field::total | pool_field::free));
    CHECK(diagnostic->failure.code == failure.code);
  }
}

TEST_CASE("an interrupted request and an answer that grows are retried") {
  Machine machine;
  machine.add_pci(intel_card("i915"), {card0, render128});
  std::string scenario = "perfmon\n" + two_tiles;
  scenario.insert(scenario.find(" i915\n") + 5, " interrupt=3 grow=1");
  fake_drm_load(scenario.c_str());
  const MemoryReading memory = read_memory(machine);
  REQUIRE(memory.result);
  CHECK(memory.find(PoolKind::vram)->total == 6 * gib);
  CHECK(fake_drm_open_nodes() == 0);
}

TEST_CASE("a card without a render node is measured by its clients") {
  Machine machine;
  machine.add_pci(intel_card("i915"), {card0, render128});
  machine.remove_node_file(render128);
  add_clients(machine);
  fake_drm_load(two_tiles.c_str());
  const MemoryReading memory = read_memory(machine);
  REQUIRE(memory.result);
  CHECK(memory.find(PoolKind::vram)->used == 120 * kib);
  CHECK(memory.reading.find("no render node") != nullptr);
  CHECK(fake_drm_log() == std::string());
}

TEST_CASE("kernels before 6.0 do not report the visible VRAM") {
  Machine machine;
  machine.add_pci(intel_card("i915"), {card0, render128});
  fake_drm_load(("perfmon\nnode renderD128 i915\n" + region(1, 0, 4 * gib, mib, 0, 0)).c_str());
  const MemoryReading memory = read_memory(machine);
  REQUIRE(memory.result);
  CHECK(memory.find(PoolKind::vram)->used == mib);
  CHECK(memory.find(PoolKind::vram_visible) == nullptr);
}
