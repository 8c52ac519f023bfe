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

Result<void> read_memory(Machine& machine, PlainReading& reading, PoolList& pools) {
  machine.devices(reading);
  Result<void> result = machine.source().memory(0, pools, reading);
  return result ? keep_plausible(pools, 0, reading) : result;
}

// Reading this file from its start fails with EIO.
void make_unreadable(const Machine& machine, const std::string& file) {
  machine.tree().link("sys/" + hmn_fake::pci_folder("0000:03:00.0") + "/" + file, "/proc/self/mem");
}

}  // namespace

TEST_CASE("a card has three pools; its VRAM is the main one") {
  Machine machine;
  machine.add_pci(navi(), {card0, render128});
  PlainReading reading;
  PoolList pools;
  REQUIRE(read_memory(machine, reading, pools));
  REQUIRE(pools.all().size() == 3);
  CHECK(pools.all()[0].kind == PoolKind::vram);
  for (const Pool& pool : pools.all()) {
    CHECK(pool.source == Source::amdgpu);
    CHECK(pool.is_main == (pool.kind == PoolKind::vram));
    CHECK(pool.accounting == Accounting::resident);
    CHECK(pool.notes == 0);
  }
  const Pool* const vram = pools.find(PoolKind::vram);
  CHECK(vram->total == 16 * gib);
  CHECK(vram->used == 3 * gib);
  CHECK(vram->free == 13 * gib);
  const Pool* const visible = pools.find(PoolKind::vram_visible);
  REQUIRE(visible != nullptr);
  CHECK(visible->total == gib / 4);
  CHECK(visible->used == gib / 8);
  const Pool* const gtt = pools.find(PoolKind::host);
  REQUIRE(gtt != nullptr);
  CHECK(gtt->total == 8 * gib);
  CHECK(gtt->used == gib);
  CHECK(reading.diagnostics.empty());
}

TEST_CASE("the main pool of an APU is the larger one, and the two are never added") {
  Machine machine;
  machine.add_pci(phoenix(), {card0, render128});
  PlainReading reading;
  PoolList pools;
  REQUIRE(read_memory(machine, reading, pools));
  REQUIRE(pools.all().size() == 3);
  CHECK(pools.all()[0].kind == PoolKind::host);
  CHECK(pools.find(PoolKind::main)->total == 30 * gib);
  CHECK(pools.find(PoolKind::main)->used == 2 * gib);
  CHECK(pools.find(PoolKind::main)->free == 28 * gib);
  CHECK(pools.find(PoolKind::vram)->total == 4 * gib);
  CHECK(pools.find(PoolKind::vram)->used == gib);
  CHECK_FALSE(pools.find(PoolKind::vram)->is_main);
}

TEST_CASE("a carve-out larger than GTT is the main pool") {
  Machine machine;
  hmn_fake::PciDevice card = phoenix();
  card.files["mem_info_vram_total"] = std::to_string(96 * gib) + "\n";
  machine.add_pci(card, {card0, render128});
  PlainReading reading;
  PoolList pools;
  REQUIRE(read_memory(machine, reading, pools));
  CHECK(pools.find(PoolKind::main)->kind == PoolKind::vram);
}

TEST_CASE("a file that is missing or broken affects only its own value") {
  Machine machine;
  hmn_fake::PciDevice card = navi();
  card.files.erase("mem_info_vis_vram_total");
  card.files.erase("mem_info_vis_vram_used");
  card.files["mem_info_gtt_used"] = "lots\n";
  card.files["mem_info_vram_used"] = std::string("3221225472\n") + std::string(4085, '\0');
  machine.add_pci(card, {card0, render128});
  PlainReading reading;
  PoolList pools;
  REQUIRE(read_memory(machine, reading, pools));
  CHECK(pools.find(PoolKind::vram_visible) == nullptr);
  CHECK(pools.find(PoolKind::vram)->used == 3 * gib);
  CHECK(pools.find(PoolKind::host)->total == 8 * gib);
  CHECK_FALSE(pools.find(PoolKind::host)->used);
  CHECK_FALSE(pools.find(PoolKind::host)->free);
  const Diagnostic* const garbage = reading.find("mem_info_gtt_used holds no number");
  REQUIRE(garbage != nullptr);
  CHECK(garbage->failure.code == Status::backend);
  CHECK(garbage->failure.source == Source::amdgpu);
  CHECK(garbage->field == (pool_field::used | pool_field::free));
  const Diagnostic* const missing = reading.find("mem_info_vis_vram_total is missing");
  REQUIRE(missing != nullptr);
  CHECK(missing->failure.code == Status::unsupported);
}

TEST_CASE("an implausible value is absent") {
  constexpr const char* more_than_total = "17179869185\n";
  for (const char* text :
       {"-5\n", "\n", "", "0x10\n", "12 kB\n", "18446744073709551616\n", more_than_total}) {
    CAPTURE(text);
    Machine machine;
    hmn_fake::PciDevice card = navi();
    card.files["mem_info_vram_used"] = text;
    machine.add_pci(card, {card0, render128});
    PlainReading reading;
    PoolList pools;
    REQUIRE(read_memory(machine, reading, pools));
    CHECK(pools.find(PoolKind::vram)->total == 16 * gib);
    CHECK_FALSE(pools.find(PoolKind::vram)->used);
    CHECK_FALSE(pools.find(PoolKind::vram)->free);
    const bool is_number = text == more_than_total;
    CHECK(reading.find(is_number ? "used_bytes 17179869185" : "mem_info_vram_used") != nullptr);
  }
}

TEST_CASE("an overlong line is not a number") {
  Machine machine;
  hmn_fake::PciDevice card = navi();
  card.files["mem_info_vram_used"] = std::string(200, '1') + "\n";
  machine.add_pci(card, {card0, render128});
  PlainReading reading;
  PoolList pools;
  REQUIRE(read_memory(machine, reading, pools));
  CHECK_FALSE(pools.find(PoolKind::vram)->used);
}

TEST_CASE("an I/O error is reported with its number") {
  Machine machine;
  machine.add_pci(navi(), {card0, render128});
  make_unreadable(machine, "mem_info_vram_used");
  PlainReading reading;
  PoolList pools;
  REQUIRE(read_memory(machine, reading, pools));
  CHECK_FALSE(pools.find(PoolKind::vram)->used);
  const Diagnostic* const diagnostic = reading.find("mem_info_vram_used cannot be read");
  REQUIRE(diagnostic != nullptr);
  CHECK(diagnostic->failure.code == Status::backend);
  CHECK(diagnostic->failure.native.domain == NativeDomain::error_number);
  CHECK(diagnostic->failure.native.code == EIO);
}

TEST_CASE("a file without read permission is reported as such") {
  Machine machine;
  machine.add_pci(navi(), {card0, render128});
  const std::string folder = "sys/" + hmn_fake::pci_folder("0000:03:00.0") + "/";
  if (!make_refused(machine.tree(), folder + "mem_info_vram_used")) return;
  REQUIRE(make_refused(machine.tree(), folder + "gpu_busy_percent"));
  PlainReading reading;
  PoolList pools;
  REQUIRE(read_memory(machine, reading, pools));
  CHECK(pools.find(PoolKind::vram)->total == 16 * gib);
  CHECK_FALSE(pools.find(PoolKind::vram)->used);
  const Diagnostic* const diagnostic = reading.find("mem_info_vram_used may not be read");
  REQUIRE(diagnostic != nullptr);
  CHECK(diagnostic->failure.code == Status::permission);
  CHECK(diagnostic->failure.native.code == EACCES);
  Telemetry telemetry;
  CHECK(machine.source()
            .telemetry(0, telemetry_field::gpu_busy_percent, telemetry, reading)
            .failure()
            .code == Status::permission);
}

TEST_CASE("a card without any memory file has no pools and reports why") {
  Machine machine;
  hmn_fake::PciDevice card = navi();
  std::erase_if(card.files, [](const auto& f) { return f.first.starts_with("mem_info_"); });
  machine.add_pci(card, {card0, render128});
  PlainReading reading;
  PoolList pools;
  const Result<void> result = read_memory(machine, reading, pools);
  REQUIRE_FALSE(result);
  CHECK(result.failure().code == Status::unsupported);
  CHECK(result.failure().source == Source::amdgpu);
  CHECK(mentions(result.failure(), "mem_info_vram_total"));
  CHECK(pools.empty());
}
