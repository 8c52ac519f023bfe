// SPDX-License-Identifier: MIT OR Apache-2.0
#include <sys/wait.h>
#include <unistd.h>

#include "core/query.hpp"
#include "machine.hpp"

using namespace hmn;
using metal_test::machine;
using metal_test::plain_reading;

namespace {

constexpr std::uint64_t gib = std::uint64_t{1} << 30;

// As it is when read once after a first reading.
pool pool_of(machine& m, plain_reading& r) {
  REQUIRE(m.devices(r));
  pools all;
  REQUIRE(m.source.memory(0, all, r));
  REQUIRE(all.all().size() == 1);
  return all.all()[0];
}

}  // namespace

TEST_CASE("Apple silicon: identity") {
  machine m;
  plain_reading r;
  const auto found = m.devices(r);
  REQUIRE(found);
  REQUIRE(found->size() == 1);
  const device& d = (*found)[0];
  CHECK(d.from == source::metal);
  CHECK(d.vendor == vendor::apple);
  CHECK(d.form == device_form::integrated);
  CHECK(d.memory_kind == memory_kind::unified);
  CHECK(d.name.view() == "Apple M2 Pro");
  CHECK(d.driver_version.view() == "14.5");
  CHECK(d.os_id == 0x100000abcu);
  CHECK(d.pci_bus_id.empty());
  CHECK_FALSE(d.pci_device);
  CHECK(r.openings == 0);
  CHECK(m.source.describe(source::metal).state == state::ready);
}

TEST_CASE("total, use and budget are three figures, and none is derived from another") {
  machine m;
  plain_reading r;
  const pool p = pool_of(m, r);
  CHECK(p.kind == pool_kind::unified);
  CHECK(p.is_main);
  CHECK(p.total == 16 * gib);
  CHECK(p.used == 900u << 20);
  CHECK(p.accounting == accounting::resident);
  CHECK(p.budget == 12 * gib);
  CHECK_FALSE(p.free);
  REQUIRE(r.diagnostics.size() == 1);
  CHECK(r.diagnostics[0].field == pool_field::free);
}

TEST_CASE("keys by other names") {
  machine m;
  auto& s = m.hardware.gpus[0].statistics;
  plain_reading r;
  SUBCASE("as older drivers spell them") {
    s = {{"GPU Activity(%)", 41}, {"inUseSystemMemory", 1 << 20}};
    CHECK(pool_of(m, r).used == 1u << 20);
    telemetry t;
    REQUIRE(m.source.telemetry(0, telemetry_field::gpu_busy_percent, t, r));
    CHECK(t.gpu_busy_percent == 41.0);
  }
  SUBCASE("allocated only: another accounting") {
    s = {{"Alloc system memory", 5 << 20}};
    const pool p = pool_of(m, r);
    CHECK(p.used == 5u << 20);
    CHECK(p.accounting == accounting::allocated);
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
    telemetry t;
    CHECK_FALSE(m.source.telemetry(0, telemetry_field::gpu_busy_percent, t, r));
  }
}

TEST_CASE("a driver without statistics") {
  machine m;
  m.hardware.gpus[0].has_statistics = false;
  plain_reading r;
  CHECK_FALSE(pool_of(m, r).used);
  CHECK(r.find("publishes no statistics") != nullptr);
}

TEST_CASE("Metal has no device: the budget is absent, not the whole memory") {
  machine m;
  m.hardware.devices.clear();
  plain_reading r;
  SUBCASE("nil") {
    const pool p = pool_of(m, r);
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
  machine m;
  plain_reading r;
  REQUIRE(m.devices(r));
  REQUIRE(m.devices(r));
  CHECK(m.hardware.loads == 1);
  m.source.close();
  CHECK(hmn_fake::apple::live() == 0);
  REQUIRE(m.devices(r));
  CHECK(m.hardware.loads == 2);
}

TEST_CASE("no frameworks") {
  machine m;
  m.hardware.has_frameworks = false;
  plain_reading r;
  const auto found = m.devices(r);
  REQUIRE_FALSE(found);
  CHECK(found.why().code == status::no_source);
  CHECK(r.openings == 0);
  CHECK(m.source.describe(source::metal).state == state::unknown);
}

TEST_CASE("the loader of this system tells what is missing") {
  const auto loaded = metal::load_frameworks();
  if (loaded) return;  // on macOS
  CHECK(loaded.why().code == status::no_source);
  CHECK(loaded.why().message.view().find("CoreFoundation") != std::string_view::npos);
}

TEST_CASE("IOKit refuses") {
  machine m;
  m.hardware.find_code = 0x10000003;  // MACH_SEND_INVALID_DEST
  plain_reading r;
  const auto found = m.devices(r);
  REQUIRE_FALSE(found);
  CHECK(found.why().code == status::backend);
  CHECK(found.why().native.domain == native_domain::kern);
  CHECK(found.why().native.code == 0x10000003);
}

TEST_CASE("no GPU is an empty list") {
  machine m;
  m.hardware.gpus.clear();
  plain_reading r;
  const auto found = m.devices(r);
  REQUIRE(found);
  CHECK(found->empty());
}

TEST_CASE("a GPU that goes away is lost, and keeps its number when it is back") {
  machine m;
  plain_reading r;
  REQUIRE(m.devices(r));
  const auto gpus = m.hardware.gpus;
  m.hardware.gpus.clear();
  REQUIRE(m.devices(r));
  pools all;
  const auto got = m.source.memory(0, all, r);
  REQUIRE_FALSE(got);
  CHECK(got.why().code == status::device_lost);
  m.hardware.gpus = gpus;
  REQUIRE(m.devices(r));
  CHECK(m.source.memory(0, all, r));
  CHECK(m.source.memory(1, all, r).why().code == status::no_device);
}

TEST_CASE("a process that was forked is refused before a framework is touched") {
  machine m;
  m.system.own().is_forked_only = true;
  plain_reading r;
  CHECK(m.source.probe().why().code == status::state);
  const auto found = m.devices(r);
  REQUIRE_FALSE(found);
  CHECK(found.why().code == status::state);
  CHECK(found.why().message.view().find("exec") != std::string_view::npos);
  CHECK(m.hardware.loads == 0);
}

TEST_CASE("a child that is forked, in fact") {
  machine m;
  plain_reading r;
  REQUIRE(m.devices(r));
  const pid_t child = fork();
  REQUIRE(child >= 0);
  if (child == 0) {
    m.system.own_pid = getpid();
    m.system.own().is_forked_only = true;
    metal::metal_source fresh(hmn_fake::mac::calls(), hmn_fake::apple::load);
    const auto refused = fresh.prepare(r);
    _exit(!refused && refused.why().code == status::state && m.hardware.loads == 1 ? 0 : 1);
  }
  int code = 0;
  REQUIRE(waitpid(child, &code, 0) == child);
  CHECK(code == 0);
}

TEST_CASE("a virtual machine on Apple silicon") {
  machine m;
  m.hardware.gpus[0].of_class = "AppleParavirtGPU";
  m.system.set("machdep.cpu.brand_string", "Apple M1 (Virtual)");
  plain_reading r;
  const auto found = m.devices(r);
  REQUIRE(found);
  CHECK((*found)[0].form == device_form::virtual_device);
}

namespace {

struct intel_mac : machine {
  intel_mac() {
    system.set("machdep.cpu.brand_string", "Intel(R) Core(TM) i9-9980HK CPU @ 2.40GHz");
    hardware.gpus.resize(2);
    hmn_fake::mac_gpu& card = hardware.gpus[0];
    card = {};
    card.id = 7;
    card.of_class = "AMDRadeonX6000_AMDNavi14GraphicsAccelerator";
    card.card = hmn_fake::mac_card();
    card.vram_megabytes = 4096;
    card.statistics = {{"Device Utilization %", 3},
                       {"vramUsedBytes", 1 << 30},
                       {"vramFreeBytes", std::int64_t{3} << 30}};
    hmn_fake::mac_gpu& inside = hardware.gpus[1];
    inside = {};
    inside.id = 8;
    inside.of_class = "IntelAccelerator";
    inside.card = hmn_fake::mac_card{0x8086, 0x3e9b, "Intel UHD Graphics 630", "0:2:0"};
    inside.vram_megabytes = 1536;
    hardware.devices = {{8, gib}, {7, 4 * gib}};
  }
};

}  // namespace

TEST_CASE("an Intel Mac has no Apple GPU, and its cards are told") {
  intel_mac m;
  plain_reading r;
  const auto found = m.devices(r);
  REQUIRE(found);
  REQUIRE(found->size() == 2);
  const device& card = (*found)[0];
  CHECK(card.vendor == vendor::amd);
  CHECK(card.form == device_form::discrete);
  CHECK(card.memory_kind == memory_kind::dedicated);
  CHECK(card.name.view() == "AMD Radeon Pro 5300M");
  CHECK(card.pci_bus_id.view() == "0000:03:00.0");
  CHECK(card.pci_device == 0x7340u);
  CHECK((*found)[1].vendor == vendor::intel);
  CHECK((*found)[1].form == device_form::integrated);
  CHECK((*found)[1].pci_bus_id.view() == "0000:00:02.0");
  for (const device& d : *found) CHECK(d.vendor != vendor::apple);
  CHECK(m.hardware.defaults_made == 0);
}

TEST_CASE("memory of an Intel Mac's two GPUs") {
  intel_mac m;
  plain_reading r;
  REQUIRE(m.devices(r));
  pools all;
  REQUIRE(m.source.memory(0, all, r));
  const pool card = all.all()[0];
  CHECK(card.kind == pool_kind::vram);
  CHECK(card.total == 4 * gib);
  CHECK(card.used == gib);
  CHECK(card.free == 3 * gib);
  CHECK(card.budget == 4 * gib);
  all.clear();
  REQUIRE(m.source.memory(1, all, r));
  CHECK(all.all()[0].kind == pool_kind::unified);
  CHECK(all.all()[0].total == 16 * gib);  // not the 1536 MiB that its driver names
  CHECK(all.all()[0].budget == gib);
}

TEST_CASE("more in use than there is, is no figure") {
  intel_mac m;
  m.hardware.gpus[0].statistics["vramUsedBytes"] = std::int64_t{5} << 30;
  plain_reading r;
  REQUIRE(m.devices(r));
  pools all;
  REQUIRE(m.source.memory(0, all, r));
  REQUIRE(keep_plausible(all, 0, r));
  CHECK_FALSE(all.all()[0].used);
}

TEST_CASE("an Intel Mac tells the load, and no other sensor") {
  intel_mac m;
  m.hardware.thermometers = {{"GPU MTR Temp Sensor1", 40}};
  plain_reading r;
  REQUIRE(m.devices(r));
  telemetry t;
  REQUIRE(m.source.telemetry(0, telemetry_field::all, t, r));
  CHECK(t.gpu_busy_percent == 3.0);
  CHECK_FALSE(t.temperature_celsius);
  const auto none = m.source.telemetry(0, telemetry_field::power_watts, t, r);
  REQUIRE_FALSE(none);
  CHECK(none.why().code == status::unsupported);
}
