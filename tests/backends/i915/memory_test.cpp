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

// 16 GiB of RAM; two tiles of 4 and 2 GiB, of which the host sees 256 MiB each.
const std::string two_tiles = "node renderD128 i915\n" + region(0, 0, 16 * gib, 0, 16 * gib, 0) +
                              region(1, 0, 4 * gib, 3 * mib, 256 * mib, mib) +
                              region(1, 1, 2 * gib, 5 * mib, 256 * mib, 2 * mib);

std::string client(const char* id, const char* local, const char* system) {
  return std::string("drm-driver:\ti915\ndrm-client-id:\t") + id +
         "\ndrm-pdev:\t0000:03:00.0\ndrm-total-system0:\t" + system +
         "\ndrm-shared-system0:\t0\ndrm-resident-system0:\t" + system + "\ndrm-total-local0:\t" +
         local + "\ndrm-shared-local0:\t0\ndrm-resident-local0:\t" + local +
         "\ndrm-engine-render:\t5 ns\n";
}

void add_clients(Machine& m) {
  m.add_process(10, {{3, "/dev/null", client("1", "100 KiB", "8 KiB")},
                     {4, "/dev/null", client("1", "100 KiB", "8 KiB")}});
  m.add_process(11, {{3, "/dev/null", client("2", "20 KiB", "4 KiB")}});
}

}  // namespace

TEST_CASE("with CAP_PERFMON the kernel tells memory, tile by tile") {
  Machine m;
  m.add_pci(intel_card("i915"), {card0, render128});
  fake_drm_load(("perfmon\n" + two_tiles).c_str());
  const MemoryReading reported = read_memory(m);
  REQUIRE(reported.result);
  const Pool* const vram = reported.find(PoolKind::main);
  REQUIRE(vram != nullptr);
  CHECK(vram->kind == PoolKind::vram);
  CHECK(vram->from == Source::i915);
  CHECK(vram->total == 6 * gib);
  CHECK(vram->used == 8 * mib);
  CHECK(vram->free == 6 * gib - 8 * mib);
  CHECK(vram->accounting == Accounting::resident);
  CHECK(vram->notes == 0);
  const Pool* const visible = reported.find(PoolKind::vram_visible);
  REQUIRE(visible != nullptr);
  CHECK(visible->total == 512 * mib);
  CHECK(visible->used == 3 * mib);
  CHECK_FALSE(visible->is_main);
  CHECK(reported.find(PoolKind::host) == nullptr);
  CHECK(reported.find(PoolKind::unified) == nullptr);
  CHECK(fake_drm_log() == asked_once);
  CHECK(fake_drm_open_nodes() == 0);
  CHECK(reported.r.find("CAP_PERFMON") == nullptr);
  // Each reading asks again.
  REQUIRE(read_memory(m).result);
  CHECK(fake_drm_log() == asked_once);
}

TEST_CASE("without CAP_PERFMON what clients use is a lower bound, and that is said") {
  Machine m;
  m.add_pci(intel_card("i915"), {card0, render128});
  add_clients(m);
  fake_drm_load(two_tiles.c_str());
  const MemoryReading reported = read_memory(m);
  REQUIRE(reported.result);
  const Pool* const vram = reported.find(PoolKind::vram);
  REQUIRE(vram != nullptr);
  CHECK(vram->total == 6 * gib);
  CHECK(vram->used == 120 * kib);  // each client once
  CHECK((vram->notes & note::lower_bound) != 0);
  CHECK_FALSE(vram->free);
  CHECK_FALSE(reported.find(PoolKind::vram_visible)->used);
  const Diagnostic* const why = reported.r.find("CAP_PERFMON");
  REQUIRE(why != nullptr);
  CHECK(why->why.code == Status::permission);
  CHECK(why->why.from == Source::i915);
  CHECK(why->about == subject::pools);
  CHECK(why->field == pool_field::free);
  CHECK(fake_drm_log() == asked_once);
  // The sizes are known, and the kernel reports no more to this caller: the node is left alone.
  const MemoryReading again = read_memory(m);
  CHECK(again.find(PoolKind::vram)->total == 6 * gib);
  CHECK(again.find(PoolKind::vram)->used == 120 * kib);
  CHECK(again.r.find("CAP_PERFMON") != nullptr);
  CHECK(fake_drm_log() == std::string());
}

TEST_CASE("without CAP_PERFMON and clients nothing is known to be in use") {
  Machine m;
  m.add_pci(intel_card("i915"), {card0, render128});
  fake_drm_load(two_tiles.c_str());
  const MemoryReading reported = read_memory(m);
  REQUIRE(reported.result);
  CHECK(reported.find(PoolKind::vram)->total == 6 * gib);
  CHECK_FALSE(reported.find(PoolKind::vram)->used);
  CHECK(reported.find(PoolKind::vram)->notes == 0);
  const Diagnostic* const why = reported.r.find("CAP_PERFMON");
  REQUIRE(why != nullptr);
  CHECK(why->field == (pool_field::used | pool_field::free));
}

TEST_CASE("a sleeping card's node is never opened") {
  Machine m;
  hmn_fake::PciDevice d = intel_card("i915");
  d.runtime_status = "suspended";
  m.add_pci(d, {card0, render128});
  add_clients(m);
  fake_drm_load(("perfmon\n" + two_tiles).c_str());
  const MemoryReading asleep = read_memory(m);
  REQUIRE_FALSE(asleep.result);
  CHECK(asleep.result.why().code == Status::asleep);
  CHECK(fake_drm_log() == std::string());
  const std::string power = "sys/" + hmn_fake::pci_folder(d.address) + "/power/runtime_status";
  m.tree().write(power, "active\n");
  REQUIRE(read_memory(m).result);
  CHECK(fake_drm_log() == asked_once);
  // Its sizes are known now, and what is in use is not.
  for (const char* state : {"suspended\n", "suspending\n"}) {
    m.tree().write(power, state);
    const MemoryReading again = read_memory(m);
    REQUIRE(again.result);
    CHECK(again.find(PoolKind::vram)->total == 6 * gib);
    CHECK_FALSE(again.find(PoolKind::vram)->used);
    REQUIRE(again.r.find(Status::asleep) != nullptr);
    CHECK(again.r.find("CAP_PERFMON") == nullptr);
    CHECK(fake_drm_log() == std::string());
  }
  Machine waking(true);
  waking.add_pci(d, {card0, render128});
  REQUIRE(read_memory(waking).result);
  CHECK(fake_drm_log() == asked_once);
}

TEST_CASE("an integrated device has host memory, never memory of its own") {
  Machine m;
  m.add_pci(intel_card("i915", first_bus_address), {card0, render128});
  const std::string text =
      "drm-driver:\ti915\ndrm-client-id:\t7\ndrm-pdev:\t0000:00:02.0\n"
      "drm-total-system0:\t6 MiB\ndrm-resident-system0:\t2 MiB\n"
      "drm-total-stolen-system0:\t64 KiB\ndrm-resident-stolen-system0:\t64 KiB\n";
  m.add_process(10, {{3, "/dev/null", text}});
  fake_drm_load(
      ("perfmon\nnode renderD128 i915\n" + region(0, 0, 16 * gib, 0, 16 * gib, 0)).c_str());
  PlainReading r;
  const auto found = m.devices(r);
  REQUIRE(found.size() == 1);
  CHECK(found[0].from == Source::i915);
  CHECK(found[0].form == DeviceForm::integrated);
  CHECK(found[0].memory_kind == MemoryKind::unified);
  for (int i = 0; i < 2; ++i) {
    const MemoryReading reported = read_memory(m);
    REQUIRE(reported.result);
    REQUIRE(reported.pools.all().size() == 1);
    const Pool& p = reported.pools.all()[0];
    CHECK(p.kind == PoolKind::unified);
    CHECK(p.is_main);
    CHECK_FALSE(p.total);  // the host's, which core knows
    CHECK(p.used == 2 * mib + 64 * kib);
    CHECK((p.notes & note::lower_bound) != 0);
    CHECK(fake_drm_log() == (i == 0 ? asked_once : std::string()));
  }
  const auto rows = m.rows(0, r);
  REQUIRE(rows.size() == 1);
  CHECK(rows[0].used == 2 * mib + 64 * kib);
  CHECK(rows[0].from == Source::i915);
}

TEST_CASE("a card on the first bus of a virtual machine is known by its regions or its sensors") {
  Machine m;
  m.add_pci(intel_card("i915", "0000:00:05.0"), {card0, render128});
  fake_drm_load(("perfmon\n" + two_tiles).c_str());
  const MemoryReading reported = read_memory(m);
  REQUIRE(reported.result);
  CHECK(reported.find(PoolKind::main)->kind == PoolKind::vram);
  CHECK(reported.find(PoolKind::main)->total == 6 * gib);
  PlainReading r;
  CHECK(m.devices(r)[0].form == DeviceForm::discrete);
  Machine other;
  hmn_fake::PciDevice d = intel_card("i915", first_bus_address);
  d.files = {{"hwmon/hwmon1/name", "i915\n"}};
  other.add_pci(d, {card0, render128});
  CHECK(other.devices(r)[0].form == DeviceForm::discrete);
}

TEST_CASE("an answer that does not come is a reason, and clients still count") {
  struct Wrong {
    const char* rule;
    Status code;
    const char* words;
  };
  const Wrong all[] = {
      {"open=13", Status::permission, "render"},         // EACCES
      {"open=1", Status::permission, "render"},          // EPERM
      {"open=19", Status::device_lost, "gone"},          // ENODEV
      {"open=24", Status::limit, "cannot be asked"},     // EMFILE
      {"ioctl=22", Status::unsupported, "this kernel"},  // EINVAL: before Linux 4.17
      {"ioctl=25", Status::unsupported, "this kernel"},  // ENOTTY
      {"ioctl=1", Status::permission, "may not"},        // EPERM: a sandbox
      {"ioctl=19", Status::device_lost, "gone"},         // ENODEV
      {"item=22", Status::unsupported, "this kernel"},   // EINVAL: before Linux 5.13
      {"item=19", Status::device_lost, "gone"},          // ENODEV
      {"item=100000", Status::backend, "cannot be asked"},
      {"interrupt=100000", Status::backend, "cannot be asked"},
      {"needed=1000000", Status::backend, "cannot be asked"},
      {"count=4", Status::backend, "without a memory region"},
      {"count=4294967295", Status::backend, "without a memory region"},
      {"length=15", Status::backend, "without a memory region"},
      {"length=150", Status::backend, "without a memory region"},
  };
  for (const Wrong& w : all) {
    CAPTURE(w.rule);
    Machine m;
    m.add_pci(intel_card("i915"), {card0, render128});
    std::string scenario = "perfmon\n" + two_tiles;
    scenario.insert(scenario.find(" i915\n") + 5, std::string(" ") + w.rule);
    fake_drm_load(scenario.c_str());
    const MemoryReading none = read_memory(m);
    REQUIRE_FALSE(none.result);
    CHECK(none.result.why().code == w.code);
    CHECK(drm_test::mentions(none.result.why(), w.words));
    CHECK(fake_drm_open_nodes() == 0);
    add_clients(m);
    const MemoryReading some = read_memory(m);
    REQUIRE(some.result);
    CHECK_FALSE(some.find(PoolKind::vram)->total);
    CHECK(some.find(PoolKind::vram)->used == 120 * kib);
    CHECK((some.find(PoolKind::vram)->notes & note::lower_bound) != 0);
    const Diagnostic* const why = some.r.find(w.words);
    REQUIRE(why != nullptr);
    CHECK(why->field == (pool_field::total | pool_field::free));
    CHECK(why->why.code == w.code);
  }
}

TEST_CASE("requests that are interrupted, and an answer that grows, are asked again") {
  Machine m;
  m.add_pci(intel_card("i915"), {card0, render128});
  std::string scenario = "perfmon\n" + two_tiles;
  scenario.insert(scenario.find(" i915\n") + 5, " interrupt=3 grow=1");
  fake_drm_load(scenario.c_str());
  const MemoryReading reported = read_memory(m);
  REQUIRE(reported.result);
  CHECK(reported.find(PoolKind::vram)->total == 6 * gib);
  CHECK(fake_drm_open_nodes() == 0);
}

TEST_CASE("a card whose render node is not here is measured by its clients") {
  Machine m;
  m.add_pci(intel_card("i915"), {card0, render128});
  m.remove_node_file(render128);
  add_clients(m);
  fake_drm_load(two_tiles.c_str());
  const MemoryReading reported = read_memory(m);
  REQUIRE(reported.result);
  CHECK(reported.find(PoolKind::vram)->used == 120 * kib);
  CHECK(reported.r.find("no render node") != nullptr);
  CHECK(fake_drm_log() == std::string());
}

TEST_CASE("kernels before 6.0 do not tell what the host sees") {
  Machine m;
  m.add_pci(intel_card("i915"), {card0, render128});
  fake_drm_load(("perfmon\nnode renderD128 i915\n" + region(1, 0, 4 * gib, mib, 0, 0)).c_str());
  const MemoryReading reported = read_memory(m);
  REQUIRE(reported.result);
  CHECK(reported.find(PoolKind::vram)->used == mib);
  CHECK(reported.find(PoolKind::vram_visible) == nullptr);
}
