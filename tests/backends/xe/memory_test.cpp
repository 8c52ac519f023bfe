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

void add_clients(machine& m) {
  m.add_process(10, {{3, "/dev/null", client("1", "23992 KiB", "192 KiB")}});
  m.add_process(11, {{3, "/dev/null", client("2", "8 KiB", "8 KiB")}});
}

}  // namespace

TEST_CASE("with CAP_PERFMON the kernel tells memory, tile by tile") {
  machine m;
  m.add_pci(intel_card("xe"), {card0, render128});
  fake_drm_load(("perfmon\n" + two_tiles).c_str());
  const memory_reading reported = read_memory(m);
  REQUIRE(reported.result);
  const pool* const vram = reported.find(pool_kind::main);
  REQUIRE(vram != nullptr);
  CHECK(vram->kind == pool_kind::vram);
  CHECK(vram->from == source::xe);
  CHECK(vram->total == 6 * gib);
  CHECK(vram->used == 8 * mib);
  CHECK(vram->free == 6 * gib - 8 * mib);
  CHECK(vram->notes == 0);
  CHECK(reported.find(pool_kind::vram_visible)->total == 6 * gib);
  CHECK(reported.find(pool_kind::vram_visible)->used == 3 * mib);
  const pool* const host = reported.find(pool_kind::host);
  REQUIRE(host != nullptr);
  CHECK(host->total == 8 * gib);
  CHECK(host->used == 7 * mib);
  CHECK(host->notes == 0);
  CHECK_FALSE(host->is_main);
  CHECK(fake_drm_log() == asked_once);
  CHECK(fake_drm_open_nodes() == 0);
  CHECK(reported.r.find(status::permission) == nullptr);
}

TEST_CASE("xe: each tile's memory is a part of the VRAM") {
  machine m;
  m.add_pci(intel_card("xe"), {card0, render128});
  fake_drm_load(("perfmon\n" + two_tiles).c_str());
  const memory_reading reported = read_memory(m);
  REQUIRE(reported.result);
  const pool* const first = reported.find(pool_kind::vram, 1);
  const pool* const second = reported.find(pool_kind::vram, 2);
  REQUIRE(first != nullptr);
  REQUIRE(second != nullptr);
  CHECK(first->total == 4 * gib);
  CHECK(first->used == 3 * mib);
  CHECK(second->total == 2 * gib);
  CHECK(second->free == 2 * gib - 5 * mib);
  CHECK_FALSE(first->is_main);
  // The parts of the main pool are found as its parts.
  CHECK(reported.find(pool_kind::main, 2) == second);
  CHECK(reported.find(pool_kind::vram, 3) == nullptr);
  CHECK(reported.find(pool_kind::host, 1) == nullptr);
}

TEST_CASE("xe: a card with one tile has no parts") {
  machine m;
  m.add_pci(intel_card("xe"), {card0, render128});
  fake_drm_load(("perfmon\nnode renderD128 xe\n" + region(0, 0, 8 * gib, 0, 0, 0) +
                 region(1, 1, 4 * gib, 3 * mib, 256 * mib, 0))
                    .c_str());
  const memory_reading reported = read_memory(m);
  REQUIRE(reported.result);
  CHECK(reported.find(pool_kind::vram)->total == 4 * gib);
  CHECK(reported.find(pool_kind::vram, 1) == nullptr);
}

TEST_CASE("without CAP_PERFMON used is not 0 but what clients use at least") {
  machine m;
  m.add_pci(intel_card("xe"), {card0, render128});
  fake_drm_load(two_tiles.c_str());
  const memory_reading alone = read_memory(m);
  REQUIRE(alone.result);
  CHECK(alone.find(pool_kind::vram)->total == 6 * gib);
  CHECK_FALSE(alone.find(pool_kind::vram)->used);
  CHECK_FALSE(alone.find(pool_kind::vram_visible)->used);
  CHECK_FALSE(alone.find(pool_kind::host)->used);
  const diagnostic* const why = alone.r.find("CAP_PERFMON");
  REQUIRE(why != nullptr);
  CHECK(why->why.code == status::permission);
  CHECK(why->field == (pool_field::used | pool_field::free));
  CHECK(fake_drm_log() == asked_once);
  add_clients(m);
  const memory_reading reported = read_memory(m);
  CHECK(reported.find(pool_kind::vram)->total == 6 * gib);
  CHECK(reported.find(pool_kind::vram)->used == 24000 * kib + 2 * mib);
  CHECK((reported.find(pool_kind::vram)->notes & note::lower_bound) != 0);
  CHECK(reported.find(pool_kind::host)->used == 200 * kib);
  CHECK((reported.find(pool_kind::host)->notes & note::lower_bound) != 0);
  CHECK(fake_drm_log() == std::string());
}

TEST_CASE("with CAP_PERFMON a region at 0 is at 0") {
  machine m;
  m.add_pci(intel_card("xe"), {card0, render128});
  fake_drm_load(("perfmon\nnode renderD128 xe\n" + region(0, 0, 8 * gib, 0, 0, 0) +
                 region(1, 1, 4 * gib, 3 * mib, 256 * mib, 0))
                    .c_str());
  const memory_reading reported = read_memory(m);
  CHECK(reported.find(pool_kind::host)->used == 0u);
  CHECK(reported.find(pool_kind::vram_visible)->used == 0u);
  CHECK(reported.find(pool_kind::vram_visible)->total == 256 * mib);
}

TEST_CASE("an integrated device has host memory, never memory of its own") {
  for (const bool perfmon : {true, false}) {
    CAPTURE(perfmon);
    machine m;
    m.add_pci(intel_card("xe", first_bus_address), {card0, render128});
    const std::string text =
        "drm-driver:\txe\ndrm-client-id:\t7\ndrm-pdev:\t0000:00:02.0\ndrm-total-system:\t8 KiB\n"
        "drm-resident-system:\t8 KiB\ndrm-total-gtt:\t192 KiB\ndrm-resident-gtt:\t192 KiB\n"
        "drm-total-stolen:\t0\ndrm-resident-stolen:\t0\n";
    m.add_process(10, {{3, "/dev/null", text}});
    fake_drm_load((std::string(perfmon ? "perfmon\n" : "") + "node renderD128 xe\n" +
                   region(0, 0, 16 * gib, 300 * mib, 0, 0))
                      .c_str());
    plain_reading r;
    const auto found = m.devices(r);
    REQUIRE(found.size() == 1);
    CHECK(found[0].from == source::xe);
    CHECK(found[0].form == device_form::integrated);
    CHECK(found[0].memory_kind == memory_kind::unified);
    const memory_reading reported = read_memory(m);
    REQUIRE(reported.result);
    REQUIRE(reported.pools.all().size() == 1);
    const pool& p = reported.pools.all()[0];
    CHECK(p.kind == pool_kind::unified);
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
  machine m;
  hmn_fake::pci_device d = intel_card("xe");
  d.runtime_status = "suspended";
  m.add_pci(d, {card0, render128});
  add_clients(m);
  fake_drm_load(("perfmon\n" + two_tiles).c_str());
  const memory_reading asleep = read_memory(m);
  REQUIRE_FALSE(asleep.result);
  CHECK(asleep.result.why().code == status::asleep);
  CHECK(asleep.result.why().from == source::xe);
  plain_reading r;
  CHECK(m.rows(0, r).empty());
  CHECK(fake_drm_log() == std::string());
  const std::string power = "sys/" + hmn_fake::pci_folder(d.address) + "/power/runtime_status";
  m.tree().write(power, "active\n");
  REQUIRE(read_memory(m).result);
  m.tree().write(power, "suspended\n");
  static_cast<void>(fake_drm_log());
  const memory_reading again = read_memory(m);
  REQUIRE(again.result);
  CHECK(again.find(pool_kind::vram)->total == 6 * gib);
  CHECK_FALSE(again.find(pool_kind::vram)->used);
  CHECK(fake_drm_log() == std::string());
  machine first(false);
  hmn_fake::pci_device i = intel_card("xe", first_bus_address);
  i.runtime_status = "suspended";
  first.add_pci(i, {card0, render128});
  const memory_reading unified = read_memory(first);
  REQUIRE(unified.result);
  CHECK(unified.find(pool_kind::unified) != nullptr);
  CHECK_FALSE(unified.find(pool_kind::unified)->used);
  CHECK(unified.r.find(status::asleep) != nullptr);
  CHECK(fake_drm_log() == std::string());
}

TEST_CASE("an answer that does not come is a reason, and clients still count") {
  struct wrong {
    const char* rule;
    status code;
  };
  const wrong all[] = {
      {"open=13", status::permission},   {"open=19", status::device_lost},
      {"ioctl=22", status::unsupported}, {"ioctl=25", status::unsupported},
      {"ioctl=1", status::permission},   {"ioctl=125", status::backend},  // ECANCELED: wedged
      {"ioctl=19", status::device_lost}, {"interrupt=100000", status::backend},
      {"needed=9", status::unsupported}, {"needed=4294967295", status::backend},
      {"count=5", status::backend},
  };
  for (const wrong& w : all) {
    CAPTURE(w.rule);
    machine m;
    m.add_pci(intel_card("xe"), {card0, render128});
    fake_drm_load(with_rule(w.rule).c_str());
    const memory_reading none = read_memory(m);
    REQUIRE_FALSE(none.result);
    CHECK(none.result.why().code == w.code);
    CHECK(fake_drm_open_nodes() == 0);
    add_clients(m);
    const memory_reading some = read_memory(m);
    REQUIRE(some.result);
    CHECK_FALSE(some.find(pool_kind::vram)->total);
    CHECK(some.find(pool_kind::vram)->used == 24000 * kib + 2 * mib);
    CHECK(some.r.find(w.code) != nullptr);
  }
}

TEST_CASE("requests that are interrupted, and an answer that grows, are asked again") {
  machine m;
  m.add_pci(intel_card("xe"), {card0, render128});
  fake_drm_load(with_rule("interrupt=3 grow=1").c_str());
  const memory_reading reported = read_memory(m);
  REQUIRE(reported.result);
  CHECK(reported.find(pool_kind::vram)->total == 6 * gib);
  CHECK(fake_drm_open_nodes() == 0);
}
