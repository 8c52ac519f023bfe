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

std::string with_rule(const char* rule) {
  std::string scenario = "perfmon\n" + two_tiles;
  return scenario.insert(scenario.find(" xe\n") + 3, std::string(" ") + rule);
}

std::string client(const char* id, const char* vram, const char* gtt) {
  return std::string("drm-driver:\txe\ndrm-client-id:\t") + id +
         "\ndrm-pdev:\t0000:03:00.0\ndrm-total-system:\t0\ndrm-resident-system:\t0\n" +
         "drm-total-gtt:\t" + gtt + "\ndrm-shared-gtt:\t0\ndrm-resident-gtt:\t" + gtt +
         "\ndrm-total-vram0:\t" + vram + "\ndrm-shared-vram0:\t0\ndrm-resident-vram0:\t" + vram +
         "\ndrm-total-vram1:\t1 MiB\ndrm-shared-vram1:\t0\ndrm-resident-vram1:\t1 MiB\n"
         "drm-total-stolen:\t0\ndrm-resident-stolen:\t0\n" +
         "drm-cycles-rcs:\t28257900\ndrm-total-cycles-rcs:\t7655183225\n";
}

void add_clients(Machine& m) {
  m.add_process(10, {{3, "/dev/null", client("1", "23992 KiB", "192 KiB")}});
  m.add_process(11, {{3, "/dev/null", client("2", "8 KiB", "8 KiB")}});
}

}  // namespace

TEST_CASE("with CAP_PERFMON the kernel tells memory, tile by tile") {
  Machine m;
  m.add_pci(intel_card("xe"), {card0, render128});
  fake_drm_load(("perfmon\n" + two_tiles).c_str());
  const MemoryReading reported = read_memory(m);
  REQUIRE(reported.result);
  const Pool* const vram = reported.find(PoolKind::main);
  REQUIRE(vram != nullptr);
  CHECK(vram->kind == PoolKind::vram);
  CHECK(vram->from == Source::xe);
  CHECK(vram->total == 6 * gib);
  CHECK(vram->used == 8 * mib);
  CHECK(vram->free == 6 * gib - 8 * mib);
  CHECK(vram->notes == 0);
  CHECK(reported.find(PoolKind::vram_visible)->total == 6 * gib);
  CHECK(reported.find(PoolKind::vram_visible)->used == 3 * mib);
  const Pool* const host = reported.find(PoolKind::host);
  REQUIRE(host != nullptr);
  CHECK(host->total == 8 * gib);
  CHECK(host->used == 7 * mib);
  CHECK(host->notes == 0);
  CHECK_FALSE(host->is_main);
  CHECK(fake_drm_log() == asked_once);
  CHECK(fake_drm_open_nodes() == 0);
  CHECK(reported.r.find(Status::permission) == nullptr);
}

TEST_CASE("xe: each tile's memory is a part of the VRAM") {
  Machine m;
  m.add_pci(intel_card("xe"), {card0, render128});
  fake_drm_load(("perfmon\n" + two_tiles).c_str());
  const MemoryReading reported = read_memory(m);
  REQUIRE(reported.result);
  const Pool* const first = reported.find(PoolKind::vram, 1);
  const Pool* const second = reported.find(PoolKind::vram, 2);
  REQUIRE(first != nullptr);
  REQUIRE(second != nullptr);
  CHECK(first->total == 4 * gib);
  CHECK(first->used == 3 * mib);
  CHECK(second->total == 2 * gib);
  CHECK(second->free == 2 * gib - 5 * mib);
  CHECK_FALSE(first->is_main);
  // The parts of the main pool are found as its parts.
  CHECK(reported.find(PoolKind::main, 2) == second);
  CHECK(reported.find(PoolKind::vram, 3) == nullptr);
  CHECK(reported.find(PoolKind::host, 1) == nullptr);
}

TEST_CASE("xe: a card with one tile has no parts") {
  Machine m;
  m.add_pci(intel_card("xe"), {card0, render128});
  fake_drm_load(("perfmon\nnode renderD128 xe\n" + region(0, 0, 8 * gib, 0, 0, 0) +
                 region(1, 1, 4 * gib, 3 * mib, 256 * mib, 0))
                    .c_str());
  const MemoryReading reported = read_memory(m);
  REQUIRE(reported.result);
  CHECK(reported.find(PoolKind::vram)->total == 4 * gib);
  CHECK(reported.find(PoolKind::vram, 1) == nullptr);
}

TEST_CASE("without CAP_PERFMON used is not 0 but what clients use at least") {
  Machine m;
  m.add_pci(intel_card("xe"), {card0, render128});
  fake_drm_load(two_tiles.c_str());
  const MemoryReading alone = read_memory(m);
  REQUIRE(alone.result);
  CHECK(alone.find(PoolKind::vram)->total == 6 * gib);
  CHECK_FALSE(alone.find(PoolKind::vram)->used);
  CHECK_FALSE(alone.find(PoolKind::vram_visible)->used);
  CHECK_FALSE(alone.find(PoolKind::host)->used);
  const Diagnostic* const why = alone.r.find("CAP_PERFMON");
  REQUIRE(why != nullptr);
  CHECK(why->why.code == Status::permission);
  CHECK(why->field == (pool_field::used | pool_field::free));
  CHECK(fake_drm_log() == asked_once);
  add_clients(m);
  const MemoryReading reported = read_memory(m);
  CHECK(reported.find(PoolKind::vram)->total == 6 * gib);
  CHECK(reported.find(PoolKind::vram)->used == 24000 * kib + 2 * mib);
  CHECK((reported.find(PoolKind::vram)->notes & note::lower_bound) != 0);
  CHECK(reported.find(PoolKind::host)->used == 200 * kib);
  CHECK((reported.find(PoolKind::host)->notes & note::lower_bound) != 0);
  CHECK(fake_drm_log() == std::string());
}

TEST_CASE("with CAP_PERFMON a region at 0 is at 0") {
  Machine m;
  m.add_pci(intel_card("xe"), {card0, render128});
  fake_drm_load(("perfmon\nnode renderD128 xe\n" + region(0, 0, 8 * gib, 0, 0, 0) +
                 region(1, 1, 4 * gib, 3 * mib, 256 * mib, 0))
                    .c_str());
  const MemoryReading reported = read_memory(m);
  CHECK(reported.find(PoolKind::host)->used == 0u);
  CHECK(reported.find(PoolKind::vram_visible)->used == 0u);
  CHECK(reported.find(PoolKind::vram_visible)->total == 256 * mib);
}

TEST_CASE("an integrated device has host memory, never memory of its own") {
  for (const bool perfmon : {true, false}) {
    CAPTURE(perfmon);
    Machine m;
    m.add_pci(intel_card("xe", first_bus_address), {card0, render128});
    const std::string text =
        "drm-driver:\txe\ndrm-client-id:\t7\ndrm-pdev:\t0000:00:02.0\ndrm-total-system:\t8 KiB\n"
        "drm-resident-system:\t8 KiB\ndrm-total-gtt:\t192 KiB\ndrm-resident-gtt:\t192 KiB\n"
        "drm-total-stolen:\t0\ndrm-resident-stolen:\t0\n";
    m.add_process(10, {{3, "/dev/null", text}});
    fake_drm_load((std::string(perfmon ? "perfmon\n" : "") + "node renderD128 xe\n" +
                   region(0, 0, 16 * gib, 300 * mib, 0, 0))
                      .c_str());
    PlainReading r;
    const auto found = m.devices(r);
    REQUIRE(found.size() == 1);
    CHECK(found[0].from == Source::xe);
    CHECK(found[0].form == DeviceForm::integrated);
    CHECK(found[0].memory_kind == MemoryKind::unified);
    const MemoryReading reported = read_memory(m);
    REQUIRE(reported.result);
    REQUIRE(reported.pools.all().size() == 1);
    const Pool& p = reported.pools.all()[0];
    CHECK(p.kind == PoolKind::unified);
    CHECK_FALSE(p.total);
    CHECK(p.used == (perfmon ? 300 * mib : 200 * kib));
    CHECK(((p.notes & note::lower_bound) != 0) == !perfmon);
    CHECK((reported.r.find("CAP_PERFMON") != nullptr) == !perfmon);
    const auto rows = m.rows(0, r);
    REQUIRE(rows.size() == 1);
    CHECK(rows[0].used == 200 * kib);
  }
}

TEST_CASE("a sleeping card's node is never opened, nor are its clients read") {
  Machine m;
  hmn_fake::PciDevice d = intel_card("xe");
  d.runtime_status = "suspended";
  m.add_pci(d, {card0, render128});
  add_clients(m);
  fake_drm_load(("perfmon\n" + two_tiles).c_str());
  const MemoryReading asleep = read_memory(m);
  REQUIRE_FALSE(asleep.result);
  CHECK(asleep.result.why().code == Status::asleep);
  CHECK(asleep.result.why().from == Source::xe);
  PlainReading r;
  CHECK(m.rows(0, r).empty());
  CHECK(fake_drm_log() == std::string());
  const std::string power = "sys/" + hmn_fake::pci_folder(d.address) + "/power/runtime_status";
  m.tree().write(power, "active\n");
  REQUIRE(read_memory(m).result);
  m.tree().write(power, "suspended\n");
  static_cast<void>(fake_drm_log());
  const MemoryReading again = read_memory(m);
  REQUIRE(again.result);
  CHECK(again.find(PoolKind::vram)->total == 6 * gib);
  CHECK_FALSE(again.find(PoolKind::vram)->used);
  CHECK(fake_drm_log() == std::string());
  Machine first(false);
  hmn_fake::PciDevice i = intel_card("xe", first_bus_address);
  i.runtime_status = "suspended";
  first.add_pci(i, {card0, render128});
  const MemoryReading unified = read_memory(first);
  REQUIRE(unified.result);
  CHECK(unified.find(PoolKind::unified) != nullptr);
  CHECK_FALSE(unified.find(PoolKind::unified)->used);
  CHECK(unified.r.find(Status::asleep) != nullptr);
  CHECK(fake_drm_log() == std::string());
}

TEST_CASE("an answer that does not come is a reason, and clients still count") {
  struct Wrong {
    const char* rule;
    Status code;
  };
  const Wrong all[] = {
      {"open=13", Status::permission},   {"open=19", Status::device_lost},
      {"ioctl=22", Status::unsupported}, {"ioctl=25", Status::unsupported},
      {"ioctl=1", Status::permission},   {"ioctl=125", Status::backend},  // ECANCELED: wedged
      {"ioctl=19", Status::device_lost}, {"interrupt=100000", Status::backend},
      {"needed=9", Status::unsupported}, {"needed=4294967295", Status::backend},
      {"count=5", Status::backend},
  };
  for (const Wrong& w : all) {
    CAPTURE(w.rule);
    Machine m;
    m.add_pci(intel_card("xe"), {card0, render128});
    fake_drm_load(with_rule(w.rule).c_str());
    const MemoryReading none = read_memory(m);
    REQUIRE_FALSE(none.result);
    CHECK(none.result.why().code == w.code);
    CHECK(fake_drm_open_nodes() == 0);
    add_clients(m);
    const MemoryReading some = read_memory(m);
    REQUIRE(some.result);
    CHECK_FALSE(some.find(PoolKind::vram)->total);
    CHECK(some.find(PoolKind::vram)->used == 24000 * kib + 2 * mib);
    CHECK(some.r.find(w.code) != nullptr);
  }
}

TEST_CASE("requests that are interrupted, and an answer that grows, are asked again") {
  Machine m;
  m.add_pci(intel_card("xe"), {card0, render128});
  fake_drm_load(with_rule("interrupt=3 grow=1").c_str());
  const MemoryReading reported = read_memory(m);
  REQUIRE(reported.result);
  CHECK(reported.find(PoolKind::vram)->total == 6 * gib);
  CHECK(fake_drm_open_nodes() == 0);
}
