// SPDX-License-Identifier: MIT OR Apache-2.0
#include "backends/amdgpu/amdgpu.hpp"

#include <doctest/doctest.h>

#include <cerrno>
#include <string_view>

#include "cards.hpp"
#include "core/query.hpp"
#include "machine.hpp"

using namespace hmn;
using namespace amdgpu_test;
using namespace drm_test;

namespace {

Result<void> read(Machine& m, PlainReading& r, Pools& out) {
  m.devices(r);
  Result<void> done = m.source().memory(0, out, r);
  return done ? keep_plausible(out, 0, r) : done;
}

// Reading it from its start is EIO.
void make_unreadable(const Machine& m, const std::string& file) {
  m.tree().link("sys/" + hmn_fake::pci_folder("0000:03:00.0") + "/" + file, "/proc/self/mem");
}

}  // namespace

TEST_CASE("three pools of a card, of which its VRAM is the main one") {
  Machine m;
  m.add_pci(navi(), {card0, render128});
  PlainReading r;
  Pools p;
  REQUIRE(read(m, r, p));
  REQUIRE(p.all().size() == 3);
  CHECK(p.all()[0].kind == PoolKind::vram);
  for (const Pool& one : p.all()) {
    CHECK(one.from == Source::amdgpu);
    CHECK(one.is_main == (one.kind == PoolKind::vram));
    CHECK(one.accounting == Accounting::resident);
    CHECK(one.notes == 0);
  }
  const Pool* const vram = p.find(PoolKind::vram);
  CHECK(vram->total == 16 * gib);
  CHECK(vram->used == 3 * gib);
  CHECK(vram->free == 13 * gib);
  const Pool* const visible = p.find(PoolKind::vram_visible);
  REQUIRE(visible != nullptr);
  CHECK(visible->total == gib / 4);
  CHECK(visible->used == gib / 8);
  const Pool* const gtt = p.find(PoolKind::host);
  REQUIRE(gtt != nullptr);
  CHECK(gtt->total == 8 * gib);
  CHECK(gtt->used == gib);
  CHECK(r.diagnostics.empty());
}

TEST_CASE("of a part of a processor the larger pool is the main one, and the two are never added") {
  Machine m;
  m.add_pci(phoenix(), {card0, render128});
  PlainReading r;
  Pools p;
  REQUIRE(read(m, r, p));
  REQUIRE(p.all().size() == 3);
  CHECK(p.all()[0].kind == PoolKind::host);
  CHECK(p.find(PoolKind::main)->total == 30 * gib);
  CHECK(p.find(PoolKind::main)->used == 2 * gib);
  CHECK(p.find(PoolKind::main)->free == 28 * gib);
  CHECK(p.find(PoolKind::vram)->total == 4 * gib);
  CHECK(p.find(PoolKind::vram)->used == gib);
  CHECK_FALSE(p.find(PoolKind::vram)->is_main);
}

TEST_CASE("a carve-out larger than GTT is the main pool") {
  Machine m;
  hmn_fake::PciDevice d = phoenix();
  d.files["mem_info_vram_total"] = std::to_string(96 * gib) + "\n";
  m.add_pci(d, {card0, render128});
  PlainReading r;
  Pools p;
  REQUIRE(read(m, r, p));
  CHECK(p.find(PoolKind::main)->kind == PoolKind::vram);
}

TEST_CASE("a file that is missing or broken costs its figure alone") {
  Machine m;
  hmn_fake::PciDevice d = navi();
  d.files.erase("mem_info_vis_vram_total");
  d.files.erase("mem_info_vis_vram_used");
  d.files["mem_info_gtt_used"] = "lots\n";
  d.files["mem_info_vram_used"] = std::string("3221225472\n") + std::string(4085, '\0');
  m.add_pci(d, {card0, render128});
  PlainReading r;
  Pools p;
  REQUIRE(read(m, r, p));
  CHECK(p.find(PoolKind::vram_visible) == nullptr);
  CHECK(p.find(PoolKind::vram)->used == 3 * gib);
  CHECK(p.find(PoolKind::host)->total == 8 * gib);
  CHECK_FALSE(p.find(PoolKind::host)->used);
  CHECK_FALSE(p.find(PoolKind::host)->free);
  const Diagnostic* const garbage = r.find("mem_info_gtt_used holds no number");
  REQUIRE(garbage != nullptr);
  CHECK(garbage->why.code == Status::backend);
  CHECK(garbage->why.from == Source::amdgpu);
  CHECK(garbage->field == (pool_field::used | pool_field::free));
  const Diagnostic* const missing = r.find("mem_info_vis_vram_total is missing");
  REQUIRE(missing != nullptr);
  CHECK(missing->why.code == Status::unsupported);
}

TEST_CASE("figures that cannot be are none") {
  constexpr const char* more_than_total = "17179869185\n";
  for (const char* text :
       {"-5\n", "\n", "", "0x10\n", "12 kB\n", "18446744073709551616\n", more_than_total}) {
    CAPTURE(text);
    Machine m;
    hmn_fake::PciDevice d = navi();
    d.files["mem_info_vram_used"] = text;
    m.add_pci(d, {card0, render128});
    PlainReading r;
    Pools p;
    REQUIRE(read(m, r, p));
    CHECK(p.find(PoolKind::vram)->total == 16 * gib);
    CHECK_FALSE(p.find(PoolKind::vram)->used);
    CHECK_FALSE(p.find(PoolKind::vram)->free);
    const bool is_number = text == more_than_total;
    CHECK(r.find(is_number ? "used_bytes 17179869185" : "mem_info_vram_used") != nullptr);
  }
}

TEST_CASE("an overlong line is no number") {
  Machine m;
  hmn_fake::PciDevice d = navi();
  d.files["mem_info_vram_used"] = std::string(200, '1') + "\n";
  m.add_pci(d, {card0, render128});
  PlainReading r;
  Pools p;
  REQUIRE(read(m, r, p));
  CHECK_FALSE(p.find(PoolKind::vram)->used);
}

TEST_CASE("an I/O error is told with its number") {
  Machine m;
  m.add_pci(navi(), {card0, render128});
  make_unreadable(m, "mem_info_vram_used");
  PlainReading r;
  Pools p;
  REQUIRE(read(m, r, p));
  CHECK_FALSE(p.find(PoolKind::vram)->used);
  const Diagnostic* const why = r.find("mem_info_vram_used cannot be read");
  REQUIRE(why != nullptr);
  CHECK(why->why.code == Status::backend);
  CHECK(why->why.native.domain == NativeDomain::error_number);
  CHECK(why->why.native.code == EIO);
}

TEST_CASE("a file that may not be read is told as that") {
  Machine m;
  m.add_pci(navi(), {card0, render128});
  const std::string folder = "sys/" + hmn_fake::pci_folder("0000:03:00.0") + "/";
  if (!make_refused(m.tree(), folder + "mem_info_vram_used")) return;
  REQUIRE(make_refused(m.tree(), folder + "gpu_busy_percent"));
  PlainReading r;
  Pools p;
  REQUIRE(read(m, r, p));
  CHECK(p.find(PoolKind::vram)->total == 16 * gib);
  CHECK_FALSE(p.find(PoolKind::vram)->used);
  const Diagnostic* const why = r.find("mem_info_vram_used may not be read");
  REQUIRE(why != nullptr);
  CHECK(why->why.code == Status::permission);
  CHECK(why->why.native.code == EACCES);
  Telemetry t;
  CHECK(m.source().telemetry(0, telemetry_field::gpu_busy_percent, t, r).why().code ==
        Status::permission);
}

TEST_CASE("a card without any of the files has no figures, and says so") {
  Machine m;
  hmn_fake::PciDevice d = navi();
  std::erase_if(d.files, [](const auto& f) { return f.first.starts_with("mem_info_"); });
  m.add_pci(d, {card0, render128});
  PlainReading r;
  Pools p;
  const Result<void> ok = read(m, r, p);
  REQUIRE_FALSE(ok);
  CHECK(ok.why().code == Status::unsupported);
  CHECK(ok.why().from == Source::amdgpu);
  CHECK(mentions(ok.why(), "mem_info_vram_total"));
  CHECK(p.empty());
}
