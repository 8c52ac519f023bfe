// SPDX-License-Identifier: MIT OR Apache-2.0
#include <sys/wait.h>
#include <unistd.h>

#include "core/query.hpp"
#include "machine.hpp"

using namespace hmn;
using metal_test::Machine;
using metal_test::PlainReading;

namespace {

constexpr std::uint64_t gib = std::uint64_t{1} << 30;

// As it is when read once after a first reading.
Pool pool_of(Machine& m, PlainReading& r) {
  REQUIRE(m.devices(r));
  Pools all;
  REQUIRE(m.source.memory(0, all, r));
  REQUIRE(all.all().size() == 1);
  return all.all()[0];
}

}  // namespace

TEST_CASE("Apple silicon: identity") {
  Machine m;
  PlainReading r;
  const auto found = m.devices(r);
  REQUIRE(found);
  REQUIRE(found->size() == 1);
  const Device& d = (*found)[0];
  CHECK(d.from == Source::metal);
  CHECK(d.vendor == vendor::apple);
  CHECK(d.form == DeviceForm::integrated);
  CHECK(d.memory_kind == MemoryKind::unified);
  CHECK(d.name.view() == "Apple M2 Pro");
  CHECK(d.driver_version.view() == "14.5");
  CHECK(d.os_id == 0x100000abcu);
  CHECK(d.pci_bus_id.empty());
  CHECK_FALSE(d.pci_device);
  CHECK(r.openings == 0);
  CHECK(m.source.describe(Source::metal).state == State::ready);
}

TEST_CASE("total, use and budget are three figures, and none is derived from another") {
  Machine m;
  PlainReading r;
  const Pool p = pool_of(m, r);
  CHECK(p.kind == PoolKind::unified);
  CHECK(p.is_main);
  CHECK(p.total == 16 * gib);
  CHECK(p.used == 900u << 20);
  CHECK(p.accounting == Accounting::resident);
  CHECK(p.budget == 12 * gib);
  CHECK_FALSE(p.free);
  REQUIRE(r.diagnostics.size() == 1);
  CHECK(r.diagnostics[0].field == pool_field::free);
}

TEST_CASE("keys by other names") {
  Machine m;
  auto& s = m.hardware.gpus[0].statistics;
  PlainReading r;
  SUBCASE("as older drivers spell them") {
    s = {{"GPU Activity(%)", 41}, {"inUseSystemMemory", 1 << 20}};
    CHECK(pool_of(m, r).used == 1u << 20);
    Telemetry t;
    REQUIRE(m.source.telemetry(0, telemetry_field::gpu_busy_percent, t, r));
    CHECK(t.gpu_busy_percent == 41.0);
  }
  SUBCASE("allocated only: another accounting") {
    s = {{"Alloc system memory", 5 << 20}};
    const Pool p = pool_of(m, r);
    CHECK(p.used == 5u << 20);
    CHECK(p.accounting == Accounting::allocated);
  }
  SUBCASE("a percentage is no number of bytes") {
    s = {{"GPU Core Utilization", 55}};
    CHECK_FALSE(pool_of(m, r).used);
  }
  SUBCASE("none that is known") {
    s = {{"Some New Key", 55}};
    CHECK_FALSE(pool_of(m, r).used);
    REQUIRE(r.find("counts no memory in use") != nullptr);
    CHECK(r.find("counts no memory in use")->field == pool_field::used);
  }
  SUBCASE("values that make no sense") {
    s = {{"Device Utilization %", 101}, {"In use system memory", -4096}};
    CHECK_FALSE(pool_of(m, r).used);
    Telemetry t;
    CHECK_FALSE(m.source.telemetry(0, telemetry_field::gpu_busy_percent, t, r));
  }
}

TEST_CASE("a driver without statistics") {
  Machine m;
  m.hardware.gpus[0].has_statistics = false;
  PlainReading r;
  CHECK_FALSE(pool_of(m, r).used);
  CHECK(r.find("publishes no statistics") != nullptr);
}

TEST_CASE("Metal has no device: the budget is absent, not the whole memory") {
  Machine m;
  m.hardware.devices.clear();
  PlainReading r;
  SUBCASE("nil") {
    const Pool p = pool_of(m, r);
    CHECK_FALSE(p.budget);
    CHECK(p.total == 16 * gib);
    REQUIRE(r.find("Metal has no such device") != nullptr);
    CHECK(r.find("Metal has no such device")->field == pool_field::budget);
    CHECK(m.hardware.defaults_made == 1);
  }
  SUBCASE("the default one serves") {
    m.hardware.default_device = {m.hardware.gpus[0].id, 11 * gib};
    CHECK(pool_of(m, r).budget == 11 * gib);
  }
  SUBCASE("a budget of 0 is none") {
    m.hardware.default_device = {m.hardware.gpus[0].id, 0};
    CHECK_FALSE(pool_of(m, r).budget);
  }
  SUBCASE("no Metal at all") {
    m.hardware.has_metal = false;
    CHECK_FALSE(pool_of(m, r).budget);
    CHECK(r.find("Metal is not on this system") != nullptr);
  }
}

TEST_CASE("frameworks are loaded once, and again after a close") {
  Machine m;
  PlainReading r;
  REQUIRE(m.devices(r));
  REQUIRE(m.devices(r));
  CHECK(m.hardware.loads == 1);
  m.source.close();
  CHECK(hmn_fake::Apple::live() == 0);
  REQUIRE(m.devices(r));
  CHECK(m.hardware.loads == 2);
}

TEST_CASE("no frameworks") {
  Machine m;
  m.hardware.has_frameworks = false;
  PlainReading r;
  const auto found = m.devices(r);
  REQUIRE_FALSE(found);
  CHECK(found.why().code == Status::no_source);
  CHECK(r.openings == 0);
  CHECK(m.source.describe(Source::metal).state == State::unknown);
}

TEST_CASE("the loader of this system tells what is missing") {
  const auto loaded = metal::load_frameworks();
  if (loaded) return;  // on macOS
  CHECK(loaded.why().code == Status::no_source);
  CHECK(loaded.why().message.view().find("CoreFoundation") != std::string_view::npos);
}

TEST_CASE("IOKit refuses") {
  Machine m;
  m.hardware.find_code = 0x10000003;  // MACH_SEND_INVALID_DEST
  PlainReading r;
  const auto found = m.devices(r);
  REQUIRE_FALSE(found);
  CHECK(found.why().code == Status::backend);
  CHECK(found.why().native.domain == NativeDomain::kern);
  CHECK(found.why().native.code == 0x10000003);
}

TEST_CASE("no GPU is an empty list") {
  Machine m;
  m.hardware.gpus.clear();
  PlainReading r;
  const auto found = m.devices(r);
  REQUIRE(found);
  CHECK(found->empty());
}

TEST_CASE("a GPU that goes away is lost, and keeps its number when it is back") {
  Machine m;
  PlainReading r;
  REQUIRE(m.devices(r));
  const auto gpus = m.hardware.gpus;
  m.hardware.gpus.clear();
  REQUIRE(m.devices(r));
  Pools all;
  const auto got = m.source.memory(0, all, r);
  REQUIRE_FALSE(got);
  CHECK(got.why().code == Status::device_lost);
  m.hardware.gpus = gpus;
  REQUIRE(m.devices(r));
  CHECK(m.source.memory(0, all, r));
  CHECK(m.source.memory(1, all, r).why().code == Status::no_device);
}

TEST_CASE("a process that was forked is refused before a framework is touched") {
  Machine m;
  m.system.own().is_forked_only = true;
  PlainReading r;
  CHECK(m.source.probe().why().code == Status::state);
  const auto found = m.devices(r);
  REQUIRE_FALSE(found);
  CHECK(found.why().code == Status::state);
  CHECK(found.why().message.view().find("exec") != std::string_view::npos);
  CHECK(m.hardware.loads == 0);
}

TEST_CASE("a child that is forked, in fact") {
  Machine m;
  PlainReading r;
  REQUIRE(m.devices(r));
  const pid_t child = fork();
  REQUIRE(child >= 0);
  if (child == 0) {
    m.system.own_pid = getpid();
    m.system.own().is_forked_only = true;
    metal::MetalSource fresh(hmn_fake::Mac::calls(), hmn_fake::Apple::load);
    const auto refused = fresh.prepare(r);
    _exit(!refused && refused.why().code == Status::state && m.hardware.loads == 1 ? 0 : 1);
  }
  int code = 0;
  REQUIRE(waitpid(child, &code, 0) == child);
  CHECK(code == 0);
}

TEST_CASE("a virtual machine on Apple silicon") {
  Machine m;
  m.hardware.gpus[0].of_class = "AppleParavirtGPU";
  m.system.set("machdep.cpu.brand_string", "Apple M1 (Virtual)");
  PlainReading r;
  const auto found = m.devices(r);
  REQUIRE(found);
  CHECK((*found)[0].form == DeviceForm::virtual_device);
}

namespace {

struct IntelMac : Machine {
  IntelMac() {
    system.set("machdep.cpu.brand_string", "Intel(R) Core(TM) i9-9980HK CPU @ 2.40GHz");
    hardware.gpus.resize(2);
    hmn_fake::MacGpu& card = hardware.gpus[0];
    card = {};
    card.id = 7;
    card.of_class = "AMDRadeonX6000_AMDNavi14GraphicsAccelerator";
    card.card = hmn_fake::MacCard();
    card.vram_megabytes = 4096;
    card.statistics = {{"Device Utilization %", 3},
                       {"vramUsedBytes", 1 << 30},
                       {"vramFreeBytes", std::int64_t{3} << 30}};
    hmn_fake::MacGpu& inside = hardware.gpus[1];
    inside = {};
    inside.id = 8;
    inside.of_class = "IntelAccelerator";
    inside.card = hmn_fake::MacCard{0x8086, 0x3e9b, "Intel UHD Graphics 630", "0:2:0"};
    inside.vram_megabytes = 1536;
    hardware.devices = {{8, gib}, {7, 4 * gib}};
  }
};

}  // namespace

TEST_CASE("an Intel Mac has no Apple GPU, and its cards are told") {
  IntelMac m;
  PlainReading r;
  const auto found = m.devices(r);
  REQUIRE(found);
  REQUIRE(found->size() == 2);
  const Device& card = (*found)[0];
  CHECK(card.vendor == vendor::amd);
  CHECK(card.form == DeviceForm::discrete);
  CHECK(card.memory_kind == MemoryKind::dedicated);
  CHECK(card.name.view() == "AMD Radeon Pro 5300M");
  CHECK(card.pci_bus_id.view() == "0000:03:00.0");
  CHECK(card.pci_device == 0x7340u);
  CHECK((*found)[1].vendor == vendor::intel);
  CHECK((*found)[1].form == DeviceForm::integrated);
  CHECK((*found)[1].pci_bus_id.view() == "0000:00:02.0");
  for (const Device& d : *found) CHECK(d.vendor != vendor::apple);
  CHECK(m.hardware.defaults_made == 0);
}

TEST_CASE("memory of an Intel Mac's two GPUs") {
  IntelMac m;
  PlainReading r;
  REQUIRE(m.devices(r));
  Pools all;
  REQUIRE(m.source.memory(0, all, r));
  const Pool card = all.all()[0];
  CHECK(card.kind == PoolKind::vram);
  CHECK(card.total == 4 * gib);
  CHECK(card.used == gib);
  CHECK(card.free == 3 * gib);
  CHECK(card.budget == 4 * gib);
  all.clear();
  REQUIRE(m.source.memory(1, all, r));
  CHECK(all.all()[0].kind == PoolKind::unified);
  CHECK(all.all()[0].total == 16 * gib);  // not the 1536 MiB that its driver names
  CHECK(all.all()[0].budget == gib);
}

TEST_CASE("more in use than there is, is no figure") {
  IntelMac m;
  m.hardware.gpus[0].statistics["vramUsedBytes"] = std::int64_t{5} << 30;
  PlainReading r;
  REQUIRE(m.devices(r));
  Pools all;
  REQUIRE(m.source.memory(0, all, r));
  REQUIRE(keep_plausible(all, 0, r));
  CHECK_FALSE(all.all()[0].used);
}

TEST_CASE("an Intel Mac tells the load, and no other sensor") {
  IntelMac m;
  m.hardware.thermometers = {{"GPU MTR Temp Sensor1", 40}};
  PlainReading r;
  REQUIRE(m.devices(r));
  Telemetry t;
  REQUIRE(m.source.telemetry(0, telemetry_field::all, t, r));
  CHECK(t.gpu_busy_percent == 3.0);
  CHECK_FALSE(t.temperature_celsius);
  const auto none = m.source.telemetry(0, telemetry_field::power_watts, t, r);
  REQUIRE_FALSE(none);
  CHECK(none.why().code == Status::unsupported);
}
