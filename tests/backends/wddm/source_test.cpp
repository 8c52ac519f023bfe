// SPDX-License-Identifier: MIT OR Apache-2.0
#include "backends/dxgi/dxgi.hpp"

#include <doctest/doctest.h>

#include <memory>

#include "backends/pdh/pdh.hpp"
#include "fake_dxgi.hpp"
#include "fake_pdh.hpp"
#include "model/metric.hpp"
#include "plain_reading.hpp"

using namespace hmn;
using hmn_fake::PlainReading;
using namespace hmn::dxgi;
using test::FakeAdapter;
using test::FakeDxgi;
using test::FakePdh;

namespace {

constexpr std::uint64_t gib = 1U << 30;
constexpr std::uint64_t mib = 1U << 20;

void count(const char16_t* path, const char16_t* instance, std::int64_t value) {
  FakePdh::now().counters[path].push_back({instance, value, static_cast<double>(value)});
}

constexpr const char16_t* in_use = u"\\GPU Adapter Memory(*)\\Dedicated Usage";
constexpr const char16_t* in_host = u"\\GPU Adapter Memory(*)\\Shared Usage";
constexpr const char16_t* committed = u"\\GPU Process Memory(*)\\Dedicated Usage";
constexpr const char16_t* committed_in_host = u"\\GPU Process Memory(*)\\Shared Usage";
constexpr const char16_t* resident = u"\\GPU Process Memory(*)\\Local Usage";
constexpr const char16_t* engines = u"\\GPU Engine(*)\\Utilization Percentage";

// A card of its own memory, and an integrated GPU.
struct Machine {
  Machine() {
    FakeDxgi::reset();
    FakePdh::reset();
    FakeAdapter card;
    card.name = u"NVIDIA GeForce RTX 4070";
    card.dedicated = 12 * gib;
    card.shared = 16 * gib;
    card.luid = 0x103D8;
    card.driver_version = std::int64_t{31} << 48 | std::int64_t{15} << 16 | 3623;
    card.local = {11 * gib, 700 * mib, 0, 0};
    card.non_local = {15 * gib, 30 * mib, 0, 0};
    card.address = AdapterAddress{1, 0, 0};
    FakeAdapter graphics;
    graphics.name = u"Intel UHD Graphics 770";
    graphics.vendor = 0x8086;
    graphics.device = 0x4680;
    graphics.dedicated = 128 * mib;
    graphics.shared = 16 * gib;
    graphics.luid = 0x1A2B3;
    graphics.local = {15 * gib, 0, 0, 0};
    graphics.address = AdapterAddress{0, 2, 0};
    FakeAdapter software;
    software.name = u"Microsoft Basic Render Driver";
    software.vendor = 0x1414;
    software.device = 0x8c;
    software.luid = 0x2;
    software.flags = flag_software;
    FakeDxgi::now().adapters = {card, graphics, software};
  }
  void count_all() {
    count(in_use, u"luid_0x00000000_0x000103D8_phys_0", 900 * mib);
    count(in_host, u"luid_0x00000000_0x000103D8_phys_0", 120 * mib);
    count(in_use, u"luid_0x00000000_0x0001A2B3_phys_0", 64 * mib);
    count(in_host, u"luid_0x00000000_0x0001A2B3_phys_0", 512 * mib);
    count(committed, u"pid_4321_luid_0x00000000_0x000103D8_phys_0", 800 * mib);
    count(committed_in_host, u"pid_4321_luid_0x00000000_0x000103D8_phys_0", 40 * mib);
    count(resident, u"pid_4321_luid_0x00000000_0x000103D8_phys_0", 750 * mib);
    count(engines, u"pid_4321_luid_0x00000000_0x000103D8_phys_0_eng_0_engtype_3D", 30);
    count(engines, u"pid_9_luid_0x00000000_0x000103D8_phys_0_eng_0_engtype_3D", 12);
    count(engines, u"pid_9_luid_0x00000000_0x000103D8_phys_0_eng_3_engtype_VideoDecode", 5);
  }
  DxgiSource& source_of(bool with_counters = true) {
    std::unique_ptr<wddm::Counters> counters;
    if (with_counters) counters = std::make_unique<pdh::PdhCounters>(FakePdh::functions());
    it = std::make_unique<DxgiSource>(std::move(counters), FakeDxgi::create, FakeDxgi::kernel());
    return *it;
  }
  std::vector<Device> list() {
    std::vector<Device> out;
    CHECK(it->prepare(r));
    CHECK(it->devices(out, r));
    return out;
  }
  Pools pools_of(Slot number) {
    Pools out;
    CHECK(it->memory(number, out, r));
    return out;
  }

  PlainReading r;
  std::unique_ptr<DxgiSource> it;
};

}  // namespace

TEST_CASE("adapters are who they are, software is left out") {
  Machine m;
  m.source_of();
  const auto all = m.list();
  REQUIRE(all.size() == 2);
  CHECK(all[0].name.view() == "NVIDIA GeForce RTX 4070");
  CHECK(all[0].os_id == 0x103D8U);
  CHECK(all[0].vendor == vendor::nvidia);
  CHECK(all[0].pci_device == 0x2786U);
  CHECK(all[0].pci_subsystem == 0x40fa1458U);
  CHECK(all[0].pci_bus_id.view() == "0000:01:00.0");
  CHECK(all[0].driver_version.view() == "31.0.15.3623");
  CHECK(all[0].memory_kind == MemoryKind::dedicated);
  CHECK(all[1].vendor == vendor::intel);
  CHECK(all[1].pci_bus_id.view() == "0000:00:02.0");
  CHECK(all[1].form == DeviceForm::integrated);
  CHECK(all[1].memory_kind == MemoryKind::unified);
  CHECK(all[1].driver_version.empty());
  CHECK(m.r.diagnostics.empty());
}

TEST_CASE("an adapter that fails is skipped and told, the rest is kept") {
  Machine m;
  SUBCASE("is not given") {
    FakeDxgi::now().adapters[0].gives = device_removed;
  }
  SUBCASE("is not described") {
    FakeDxgi::now().adapters[0].describes = device_removed;
  }
  m.source_of();
  const auto all = m.list();
  REQUIRE(all.size() == 1);
  CHECK(all[0].vendor == vendor::intel);
  REQUIRE(m.r.diagnostics.size() == 1);
  CHECK(m.r.diagnostics[0].why.native.domain == NativeDomain::hresult);
  CHECK(m.r.diagnostics[0].why.native.code == static_cast<std::int32_t>(device_removed));
}

TEST_CASE("a success of the kernel that fills nothing in is no address") {
  Machine m;
  FakeDxgi::now().adapters[0].address.reset();
  FakeDxgi::now().adapters[1].address = AdapterAddress{300, 0, 0};
  m.source_of();
  for (const Device& d : m.list()) CHECK(d.pci_bus_id.empty());
  CHECK(FakeDxgi::now().kernel_open == 0);
}

TEST_CASE("no list where the system has no graphics") {
  Machine m;
  m.source_of();
  FakeDxgi::now().creates = unsupported;
  const auto refused = m.it->prepare(m.r);
  REQUIRE(!refused);
  CHECK(refused.why().code == Status::no_source);
  CHECK(m.it->describe(Source::dxgi).state == State::absent);
  FakeDxgi::now().creates = 0x887A0022;
  const auto failed = m.it->prepare(m.r);
  REQUIRE(!failed);
  CHECK(failed.why().code == Status::backend);
  CHECK(failed.why().native.code == static_cast<std::int32_t>(0x887A0022));
}

TEST_CASE("a card has memory of its own and a part of the host's") {
  Machine m;
  m.count_all();
  m.source_of();
  m.list();
  const Pools all = m.pools_of(0);
  REQUIRE(all.all().size() == 2);
  const Pool* vram = all.find(PoolKind::vram);
  const Pool* host = all.find(PoolKind::host);
  REQUIRE(vram);
  REQUIRE(host);
  CHECK(vram->is_main);
  CHECK(vram->total == 12 * gib);
  CHECK(vram->used == 900 * mib);
  CHECK(vram->free == 12 * gib - 900 * mib);
  CHECK(vram->budget == 11 * gib);
  CHECK(vram->accounting == Accounting::resident);
  CHECK(!host->is_main);
  CHECK(host->total == 16 * gib);
  CHECK(host->used == 120 * mib);
  CHECK(host->budget == 15 * gib);
  CHECK(m.r.diagnostics.empty());
}

TEST_CASE("processor graphics has one pool") {
  Machine m;
  m.count_all();
  m.source_of();
  m.list();
  const Pools all = m.pools_of(1);
  REQUIRE(all.all().size() == 1);
  const Pool& p = all.all()[0];
  CHECK(p.kind == PoolKind::unified);
  CHECK(p.is_main);
  CHECK(p.total == 16 * gib + 128 * mib);
  CHECK(p.used == 576 * mib);
  CHECK(p.budget == 15 * gib);
  CHECK(p.apart_free == 64 * mib);  // what firmware set aside is none of the host's
}

TEST_CASE("what is in use is absent without counters, and told why") {
  Machine m;
  SUBCASE("left out") {
    m.source_of(false);
    m.list();
    const Pools all = m.pools_of(0);
    CHECK(all.find(PoolKind::vram)->total == 12 * gib);
    CHECK(!all.find(PoolKind::vram)->used);
    CHECK(!all.find(PoolKind::vram)->free);
    REQUIRE(m.r.diagnostics.size() == 1);
    CHECK(m.r.diagnostics[0].field == (pool_field::used | pool_field::free));
    CHECK(m.it->describe(Source::pdh).state == State::off);
  }
  SUBCASE("not in this Windows") {
    m.source_of();
    m.list();
    CHECK(!m.pools_of(0).find(PoolKind::host)->used);
    REQUIRE(m.r.diagnostics.size() == 1);
    CHECK(m.r.diagnostics[0].why.code == Status::no_source);
    CHECK(m.it->describe(Source::pdh).state == State::absent);
  }
  SUBCASE("none of this adapter") {
    count(in_use, u"luid_0x00000000_0x0001A2B3_phys_0", 1);
    count(in_host, u"luid_0x00000000_0x0001A2B3_phys_0", 1);
    m.source_of();
    m.list();
    CHECK(!m.pools_of(0).find(PoolKind::vram)->used);
    REQUIRE(m.r.diagnostics.size() == 1);
    CHECK(m.r.diagnostics[0].why.code == Status::unsupported);
  }
}

TEST_CASE("the budget is absent without the newer interface, and told why") {
  Machine m;
  m.count_all();
  FakeDxgi::now().adapters[0].adapter3 = no_interface;
  m.source_of();
  m.list();
  const Pools all = m.pools_of(0);
  CHECK(all.find(PoolKind::vram)->used == 900 * mib);
  CHECK(!all.find(PoolKind::vram)->budget);
  REQUIRE(m.r.diagnostics.size() == 1);
  CHECK(m.r.diagnostics[0].why.code == Status::unsupported);
  CHECK(m.r.diagnostics[0].why.native.code == static_cast<std::int32_t>(no_interface));
  SUBCASE("what the caller uses is then as the counters tell it") {
    Usage own;
    REQUIRE(m.it->process(0, 4321, true, own, m.r));
    CHECK(own.from == Source::pdh);
    CHECK(own.used == 750 * mib);
  }
}

TEST_CASE("the caller's own use") {
  Machine m;
  m.source_of(false);
  m.list();
  Usage own;
  REQUIRE(m.it->process(0, 77, true, own, m.r));
  CHECK(own.from == Source::dxgi);
  CHECK(own.used == 700 * mib);
  CHECK(own.accounting == Accounting::resident);
  CHECK(own.host_pool == 30 * mib);
  CHECK(own.budget == 11 * gib);
  FakeDxgi::now().adapters[0].queries = device_removed;
  const auto gone = m.it->process(0, 77, true, own, m.r);
  REQUIRE(!gone);
  CHECK(gone.why().code == Status::device_lost);
}

TEST_CASE("each process has what was promised and what is resident, told apart") {
  Machine m;
  m.count_all();
  count(committed, u"pid_9_luid_0x00000000_0x000103D8_phys_0", 77 * mib);
  m.source_of();
  m.list();
  std::vector<Usage> rows;
  REQUIRE(m.it->processes(0, rows, m.r));
  REQUIRE(rows.size() == 2);
  CHECK(rows[1].pid == 4321);
  CHECK(rows[1].committed == 800 * mib);
  CHECK(rows[1].resident == 750 * mib);
  CHECK(rows[1].used == 750 * mib);
  CHECK(rows[1].accounting == Accounting::resident);
  CHECK(rows[1].host_pool == 40 * mib);
  CHECK(!rows[1].busy_percent);
  CHECK(rows[0].pid == 9);
  CHECK(rows[0].used == 77 * mib);
  CHECK(rows[0].accounting == Accounting::committed);
  CHECK(!rows[0].resident);
  rows.clear();
  REQUIRE(m.it->processes(1, rows, m.r));
  CHECK(rows.empty());
}

TEST_CASE(
    "a process of processor graphics uses its one pool, as the adapter's processes together do") {
  Machine m;
  m.count_all();
  count(committed, u"pid_7_luid_0x00000000_0x0001A2B3_phys_0", 64 * mib);
  count(committed_in_host, u"pid_7_luid_0x00000000_0x0001A2B3_phys_0", 512 * mib);
  FakeDxgi::now().adapters[1].local.used = 40 * mib;
  FakeDxgi::now().adapters[1].kernel_used[0] = 5 * mib;
  FakeDxgi::now().adapters[1].kernel_used[1] = mib;
  m.source_of();
  m.list();
  std::vector<Usage> rows;
  REQUIRE(m.it->processes(1, rows, m.r));
  REQUIRE(rows.size() == 1);
  CHECK(rows[0].used == 576 * mib);
  CHECK(rows[0].used == m.pools_of(1).find(PoolKind::unified)->used);
  CHECK(rows[0].committed == 576 * mib);
  CHECK(!rows[0].host_pool);
  Usage own;
  REQUIRE(m.it->process(1, 77, true, own, m.r));
  CHECK(own.used == 40 * mib);
  CHECK(!own.host_pool);
  m.source_of(false);
  m.list();
  Usage other;
  REQUIRE(m.it->process(1, 4321, false, other, m.r));
  CHECK(other.used == 6 * mib);
  CHECK(!other.host_pool);
}

TEST_CASE("load comes with the second reading") {
  Machine m;
  m.count_all();
  m.source_of();
  m.list();
  Telemetry first;
  const auto early = m.it->telemetry(0, telemetry_field::gpu_busy_percent, first, m.r);
  REQUIRE(!early);
  CHECK(early.why().code == Status::empty);
  m.list();
  Telemetry t;
  REQUIRE(m.it->telemetry(0, telemetry_field::gpu_busy_percent, t, m.r));
  CHECK(t.gpu_busy_percent == 42.0);
  CHECK(t.decoder_busy_percent == 5.0);
  CHECK(!t.encoder_busy_percent);
  CHECK(t.window_ns);
  CHECK(t.sources == bit_of(Source::pdh));
  std::vector<Metric> metrics;
  REQUIRE(m.it->metrics(0, false, metrics, m.r));
  REQUIRE(metrics.size() == 2);
  CHECK(metrics[0].id == MetricId::engine_percent);
  CHECK(metrics[0].instance == which::engine::graphics);
  CHECK(metrics[0].value == 42.0);
  std::vector<Usage> rows;
  REQUIRE(m.it->processes(0, rows, m.r));
  CHECK(rows[0].busy_percent == 30.0);
  // Each object once for all devices.
  const int collected = FakePdh::now().collected;
  CHECK(m.it->processes(1, rows, m.r));
  CHECK(FakePdh::now().collected == collected);
}

TEST_CASE("a process that the counters do not tell of is asked for in the kernel") {
  Machine m;
  FakeDxgi::now().adapters[0].kernel_used[0] = 5 * mib;
  FakeDxgi::now().adapters[0].kernel_used[1] = mib;
  m.source_of(false);
  m.list();
  Usage u;
  REQUIRE(m.it->process(0, 4321, false, u, m.r));
  CHECK(u.used == 5 * mib);
  CHECK(u.host_pool == mib);
  CHECK(u.from == Source::dxgi);
  SUBCASE("of another's process it tells nothing") {
    CHECK(!m.it->process(0, 5, false, u, m.r));
  }
  SUBCASE("a success that fills nothing in is not believed") {
    FakeDxgi::now().adapters[0].kernel_fills = false;
    CHECK(!m.it->process(0, 4321, false, u, m.r));
  }
  CHECK(FakeDxgi::now().kernel_open == 0);
}

TEST_CASE("a process that is in no list uses none of the device") {
  Machine m;
  m.count_all();
  m.source_of();
  m.list();
  Usage u;
  const auto missing = m.it->process(0, 5, false, u, m.r);
  REQUIRE(!missing);
  CHECK(missing.why().code == Status::no_process);
}

TEST_CASE("a changed set of adapters is listed anew, and the counters opened again") {
  Machine m;
  m.count_all();
  m.source_of();
  m.list();
  m.pools_of(0);
  m.list();
  CHECK(FakeDxgi::now().made == 1);
  const int opened = FakePdh::now().opened;
  // A reset gives the card another number.
  FakeDxgi::now().adapters[0].luid = 0x777;
  FakeDxgi::now().is_current = false;
  const auto all = m.list();
  CHECK(FakeDxgi::now().made == 2);
  REQUIRE(all.size() == 2);
  CHECK(all[0].os_id == 0x777U);
  CHECK(all[0].number == 2);
  CHECK(all[1].number == 1);
  Pools out;
  const auto gone = m.it->memory(0, out, m.r);
  REQUIRE(!gone);
  CHECK(gone.why().code == Status::device_lost);
  m.pools_of(2);
  CHECK(FakePdh::now().opened == opened + 1);
}

TEST_CASE("every reference is given back") {
  Machine m;
  m.count_all();
  m.source_of();
  m.list();
  FakeDxgi::now().is_current = false;
  m.list();
  m.it->close();
  CHECK(FakeDxgi::now().references == 0);
  m.list();
  m.it.reset();
  CHECK(FakeDxgi::now().references == 0);
  CHECK(FakePdh::now().opened == FakePdh::now().closed);
}
