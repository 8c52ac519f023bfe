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

void append_counter(const char16_t* path, const char16_t* instance, std::int64_t value) {
  FakePdh::instance().counters[path].push_back({instance, value, static_cast<double>(value)});
}

constexpr const char16_t* in_use = u"\\GPU Adapter Memory(*)\\Dedicated Usage";
constexpr const char16_t* in_host = u"\\GPU Adapter Memory(*)\\Shared Usage";
constexpr const char16_t* committed = u"\\GPU Process Memory(*)\\Dedicated Usage";
constexpr const char16_t* committed_in_host = u"\\GPU Process Memory(*)\\Shared Usage";
constexpr const char16_t* resident = u"\\GPU Process Memory(*)\\Local Usage";
constexpr const char16_t* engines = u"\\GPU Engine(*)\\Utilization Percentage";

// A card with its own memory, an integrated GPU and a software adapter.
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
    FakeDxgi::instance().adapters = {card, graphics, software};
  }
  void append_counters() {
    append_counter(in_use, u"luid_0x00000000_0x000103D8_phys_0", 900 * mib);
    append_counter(in_host, u"luid_0x00000000_0x000103D8_phys_0", 120 * mib);
    append_counter(in_use, u"luid_0x00000000_0x0001A2B3_phys_0", 64 * mib);
    append_counter(in_host, u"luid_0x00000000_0x0001A2B3_phys_0", 512 * mib);
    append_counter(committed, u"pid_4321_luid_0x00000000_0x000103D8_phys_0", 800 * mib);
    append_counter(committed_in_host, u"pid_4321_luid_0x00000000_0x000103D8_phys_0", 40 * mib);
    append_counter(resident, u"pid_4321_luid_0x00000000_0x000103D8_phys_0", 750 * mib);
    append_counter(engines, u"pid_4321_luid_0x00000000_0x000103D8_phys_0_eng_0_engtype_3D", 30);
    append_counter(engines, u"pid_9_luid_0x00000000_0x000103D8_phys_0_eng_0_engtype_3D", 12);
    append_counter(engines, u"pid_9_luid_0x00000000_0x000103D8_phys_0_eng_3_engtype_VideoDecode",
                   5);
  }
  DxgiSource& make_source(bool with_counters = true) {
    std::unique_ptr<wddm::Counters> pdh_counters;
    if (with_counters) pdh_counters = std::make_unique<pdh::PdhCounters>(FakePdh::functions());
    source =
        std::make_unique<DxgiSource>(std::move(pdh_counters), FakeDxgi::create, FakeDxgi::kernel());
    return *source;
  }
  std::vector<Device> list() {
    std::vector<Device> devices;
    CHECK(source->prepare(reading));
    CHECK(source->devices(devices, reading));
    return devices;
  }
  PoolList read_pools(Slot number) {
    PoolList pools;
    CHECK(source->memory(number, pools, reading));
    return pools;
  }

  PlainReading reading;
  std::unique_ptr<DxgiSource> source;
};

}  // namespace

TEST_CASE("adapters are listed with their identity, and software adapters are not") {
  Machine machine;
  machine.make_source();
  const auto all = machine.list();
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
  CHECK(machine.reading.diagnostics.empty());
}

TEST_CASE("an adapter that fails is skipped with a diagnostic, and the others are kept") {
  Machine machine;
  SUBCASE("the adapter is not returned") {
    FakeDxgi::instance().adapters[0].enumerate_code = device_removed;
  }
  SUBCASE("the adapter is not described") {
    FakeDxgi::instance().adapters[0].describe_code = device_removed;
  }
  machine.make_source();
  const auto all = machine.list();
  REQUIRE(all.size() == 1);
  CHECK(all[0].vendor == vendor::intel);
  REQUIRE(machine.reading.diagnostics.size() == 1);
  CHECK(machine.reading.diagnostics[0].failure.native.domain == NativeDomain::hresult);
  CHECK(machine.reading.diagnostics[0].failure.native.code ==
        static_cast<std::int32_t>(device_removed));
}

TEST_CASE("no address is reported if the kernel succeeds without writing one") {
  Machine machine;
  FakeDxgi::instance().adapters[0].address.reset();
  FakeDxgi::instance().adapters[1].address = AdapterAddress{300, 0, 0};
  machine.make_source();
  for (const Device& device : machine.list()) CHECK(device.pci_bus_id.empty());
  CHECK(FakeDxgi::instance().kernel_open == 0);
}

TEST_CASE("without DXGI the source is absent, and another error is a failure") {
  Machine machine;
  machine.make_source();
  FakeDxgi::instance().create_code = unsupported;
  const auto refused = machine.source->prepare(machine.reading);
  REQUIRE(!refused);
  CHECK(refused.failure().code == Status::no_source);
  CHECK(machine.source->describe(Source::dxgi).state == State::absent);
  FakeDxgi::instance().create_code = 0x887A0022;
  const auto failed = machine.source->prepare(machine.reading);
  REQUIRE(!failed);
  CHECK(failed.failure().code == Status::backend);
  CHECK(failed.failure().native.code == static_cast<std::int32_t>(0x887A0022));
}

TEST_CASE("a card has VRAM and a host pool") {
  Machine machine;
  machine.append_counters();
  machine.make_source();
  machine.list();
  const PoolList all = machine.read_pools(0);
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
  CHECK(machine.reading.diagnostics.empty());
}

TEST_CASE("integrated graphics has one unified pool") {
  Machine machine;
  machine.append_counters();
  machine.make_source();
  machine.list();
  const PoolList all = machine.read_pools(1);
  REQUIRE(all.all().size() == 1);
  const Pool& pool = all.all()[0];
  CHECK(pool.kind == PoolKind::unified);
  CHECK(pool.is_main);
  CHECK(pool.total == 16 * gib + 128 * mib);
  CHECK(pool.used == 576 * mib);
  CHECK(pool.budget == 15 * gib);
  CHECK(pool.carveout_free == 64 * mib);  // memory set aside by firmware is not the host's
}

TEST_CASE("without counters the used value is absent, with a reason") {
  Machine machine;
  SUBCASE("counters are switched off") {
    machine.make_source(false);
    machine.list();
    const PoolList all = machine.read_pools(0);
    CHECK(all.find(PoolKind::vram)->total == 12 * gib);
    CHECK(!all.find(PoolKind::vram)->used);
    CHECK(!all.find(PoolKind::vram)->free);
    REQUIRE(machine.reading.diagnostics.size() == 1);
    CHECK(machine.reading.diagnostics[0].field == (pool_field::used | pool_field::free));
    CHECK(machine.source->describe(Source::pdh).state == State::off);
  }
  SUBCASE("counters do not exist on this Windows") {
    machine.make_source();
    machine.list();
    CHECK(!machine.read_pools(0).find(PoolKind::host)->used);
    REQUIRE(machine.reading.diagnostics.size() == 1);
    CHECK(machine.reading.diagnostics[0].failure.code == Status::no_source);
    CHECK(machine.source->describe(Source::pdh).state == State::absent);
  }
  SUBCASE("counters have no row of this adapter") {
    append_counter(in_use, u"luid_0x00000000_0x0001A2B3_phys_0", 1);
    append_counter(in_host, u"luid_0x00000000_0x0001A2B3_phys_0", 1);
    machine.make_source();
    machine.list();
    CHECK(!machine.read_pools(0).find(PoolKind::vram)->used);
    REQUIRE(machine.reading.diagnostics.size() == 1);
    CHECK(machine.reading.diagnostics[0].failure.code == Status::unsupported);
  }
}

TEST_CASE("without the newer interface the budget is absent, with a reason") {
  Machine machine;
  machine.append_counters();
  FakeDxgi::instance().adapters[0].adapter3_code = no_interface;
  machine.make_source();
  machine.list();
  const PoolList all = machine.read_pools(0);
  CHECK(all.find(PoolKind::vram)->used == 900 * mib);
  CHECK(!all.find(PoolKind::vram)->budget);
  REQUIRE(machine.reading.diagnostics.size() == 1);
  CHECK(machine.reading.diagnostics[0].failure.code == Status::unsupported);
  CHECK(machine.reading.diagnostics[0].failure.native.code ==
        static_cast<std::int32_t>(no_interface));
  SUBCASE("own use then comes from the counters") {
    Usage own;
    REQUIRE(machine.source->process(0, 4321, true, own, machine.reading));
    CHECK(own.source == Source::pdh);
    CHECK(own.used == 750 * mib);
  }
}

TEST_CASE("own use is read from DXGI") {
  Machine machine;
  machine.make_source(false);
  machine.list();
  Usage own;
  REQUIRE(machine.source->process(0, 77, true, own, machine.reading));
  CHECK(own.source == Source::dxgi);
  CHECK(own.used == 700 * mib);
  CHECK(own.accounting == Accounting::resident);
  CHECK(own.host_pool == 30 * mib);
  CHECK(own.budget == 11 * gib);
  FakeDxgi::instance().adapters[0].query_code = device_removed;
  const auto result = machine.source->process(0, 77, true, own, machine.reading);
  REQUIRE(!result);
  CHECK(result.failure().code == Status::device_lost);
}

TEST_CASE("processes have both committed and resident memory") {
  Machine machine;
  machine.append_counters();
  append_counter(committed, u"pid_9_luid_0x00000000_0x000103D8_phys_0", 77 * mib);
  machine.make_source();
  machine.list();
  std::vector<Usage> rows;
  REQUIRE(machine.source->processes(0, rows, machine.reading));
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
  REQUIRE(machine.source->processes(1, rows, machine.reading));
  CHECK(rows.empty());
}

TEST_CASE("a process on integrated graphics uses the unified pool, like the adapter's total") {
  Machine machine;
  machine.append_counters();
  append_counter(committed, u"pid_7_luid_0x00000000_0x0001A2B3_phys_0", 64 * mib);
  append_counter(committed_in_host, u"pid_7_luid_0x00000000_0x0001A2B3_phys_0", 512 * mib);
  FakeDxgi::instance().adapters[1].local.used = 40 * mib;
  FakeDxgi::instance().adapters[1].kernel_used[0] = 5 * mib;
  FakeDxgi::instance().adapters[1].kernel_used[1] = mib;
  machine.make_source();
  machine.list();
  std::vector<Usage> rows;
  REQUIRE(machine.source->processes(1, rows, machine.reading));
  REQUIRE(rows.size() == 1);
  CHECK(rows[0].used == 576 * mib);
  CHECK(rows[0].used == machine.read_pools(1).find(PoolKind::unified)->used);
  CHECK(rows[0].committed == 576 * mib);
  CHECK(!rows[0].host_pool);
  Usage own;
  REQUIRE(machine.source->process(1, 77, true, own, machine.reading));
  CHECK(own.used == 40 * mib);
  CHECK(!own.host_pool);
  machine.make_source(false);
  machine.list();
  Usage other;
  REQUIRE(machine.source->process(1, 4321, false, other, machine.reading));
  CHECK(other.used == 6 * mib);
  CHECK(!other.host_pool);
}

TEST_CASE("load is available from the second reading on") {
  Machine machine;
  machine.append_counters();
  machine.make_source();
  machine.list();
  Telemetry first;
  const auto early =
      machine.source->telemetry(0, telemetry_field::gpu_busy_percent, first, machine.reading);
  REQUIRE(!early);
  CHECK(early.failure().code == Status::empty);
  machine.list();
  Telemetry telemetry;
  REQUIRE(
      machine.source->telemetry(0, telemetry_field::gpu_busy_percent, telemetry, machine.reading));
  CHECK(telemetry.gpu_busy_percent == 42.0);
  CHECK(telemetry.decoder_busy_percent == 5.0);
  CHECK(!telemetry.encoder_busy_percent);
  CHECK(telemetry.window_ns);
  CHECK(telemetry.sources == source_bit(Source::pdh));
  std::vector<Metric> metrics;
  REQUIRE(machine.source->metrics(0, false, metrics, machine.reading));
  REQUIRE(metrics.size() == 2);
  CHECK(metrics[0].id == MetricId::engine_percent);
  CHECK(metrics[0].instance == metric_instance::engine::graphics);
  CHECK(metrics[0].value == 42.0);
  std::vector<Usage> rows;
  REQUIRE(machine.source->processes(0, rows, machine.reading));
  CHECK(rows[0].busy_percent == 30.0);
  // Each object is collected once for all devices.
  const int collected = FakePdh::instance().collected;
  CHECK(machine.source->processes(1, rows, machine.reading));
  CHECK(FakePdh::instance().collected == collected);
}

TEST_CASE("a process without counters is read from the kernel") {
  Machine machine;
  FakeDxgi::instance().adapters[0].kernel_used[0] = 5 * mib;
  FakeDxgi::instance().adapters[0].kernel_used[1] = mib;
  machine.make_source(false);
  machine.list();
  Usage usage;
  REQUIRE(machine.source->process(0, 4321, false, usage, machine.reading));
  CHECK(usage.used == 5 * mib);
  CHECK(usage.host_pool == mib);
  CHECK(usage.source == Source::dxgi);
  SUBCASE("another user's process is refused") {
    CHECK(!machine.source->process(0, 5, false, usage, machine.reading));
  }
  SUBCASE("a success without a written value is a failure") {
    FakeDxgi::instance().adapters[0].kernel_fills = false;
    CHECK(!machine.source->process(0, 4321, false, usage, machine.reading));
  }
  CHECK(FakeDxgi::instance().kernel_open == 0);
}

TEST_CASE("a process in no list is reported as no_process") {
  Machine machine;
  machine.append_counters();
  machine.make_source();
  machine.list();
  Usage usage;
  const auto result = machine.source->process(0, 5, false, usage, machine.reading);
  REQUIRE(!result);
  CHECK(result.failure().code == Status::no_process);
}

TEST_CASE("a changed set of adapters is listed again, and the counters reopened") {
  Machine machine;
  machine.append_counters();
  machine.make_source();
  machine.list();
  machine.read_pools(0);
  machine.list();
  CHECK(FakeDxgi::instance().factory_count == 1);
  const int opened = FakePdh::instance().opened;
  // A reset gives the card another number.
  FakeDxgi::instance().adapters[0].luid = 0x777;
  FakeDxgi::instance().is_current = false;
  const auto all = machine.list();
  CHECK(FakeDxgi::instance().factory_count == 2);
  REQUIRE(all.size() == 2);
  CHECK(all[0].os_id == 0x777U);
  CHECK(all[0].slot == 2);
  CHECK(all[1].slot == 1);
  PoolList pools;
  const auto result = machine.source->memory(0, pools, machine.reading);
  REQUIRE(!result);
  CHECK(result.failure().code == Status::device_lost);
  machine.read_pools(2);
  CHECK(FakePdh::instance().opened == opened + 1);
}

TEST_CASE("every reference is released") {
  Machine machine;
  machine.append_counters();
  machine.make_source();
  machine.list();
  FakeDxgi::instance().is_current = false;
  machine.list();
  machine.source->close();
  CHECK(FakeDxgi::instance().references == 0);
  machine.list();
  machine.source.reset();
  CHECK(FakeDxgi::instance().references == 0);
  CHECK(FakePdh::instance().opened == FakePdh::instance().closed);
}
