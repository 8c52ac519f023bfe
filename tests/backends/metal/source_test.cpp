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

// Reads the GPU's only pool.
Pool read_pool(Machine& machine, PlainReading& reading) {
  REQUIRE(machine.devices(reading));
  PoolList all;
  REQUIRE(machine.source.memory(0, all, reading));
  REQUIRE(all.all().size() == 1);
  return all.all()[0];
}

}  // namespace

TEST_CASE("Apple silicon: a GPU's identity is read") {
  Machine machine;
  PlainReading reading;
  const auto devices = machine.devices(reading);
  REQUIRE(devices);
  REQUIRE(devices->size() == 1);
  const Device& device = (*devices)[0];
  CHECK(device.source == Source::metal);
  CHECK(device.vendor == vendor::apple);
  CHECK(device.form == DeviceForm::integrated);
  CHECK(device.memory_kind == MemoryKind::unified);
  CHECK(device.name.view() == "Apple M2 Pro");
  CHECK(device.driver_version.view() == "14.5");
  CHECK(device.os_id == 0x100000abcu);
  CHECK(device.pci_bus_id.empty());
  CHECK_FALSE(device.pci_device);
  CHECK(reading.openings == 0);
  CHECK(machine.source.describe(Source::metal).state == State::ready);
}

TEST_CASE("total, used and budget are read, and free is not derived from them") {
  Machine machine;
  PlainReading reading;
  const Pool pool = read_pool(machine, reading);
  CHECK(pool.kind == PoolKind::unified);
  CHECK(pool.is_main);
  CHECK(pool.total == 16 * gib);
  CHECK(pool.used == 900u << 20);
  CHECK(pool.accounting == Accounting::resident);
  CHECK(pool.budget == 12 * gib);
  CHECK_FALSE(pool.free);
  REQUIRE(reading.diagnostics.size() == 1);
  CHECK(reading.diagnostics[0].field == pool_field::free);
}

TEST_CASE("statistics are found under several keys") {
  Machine machine;
  auto& statistics = machine.hardware.gpus[0].statistics;
  PlainReading reading;
  SUBCASE("keys of older drivers") {
    statistics = {{"GPU Activity(%)", 41}, {"inUseSystemMemory", 1 << 20}};
    CHECK(read_pool(machine, reading).used == 1u << 20);
    Telemetry telemetry;
    REQUIRE(machine.source.telemetry(0, telemetry_field::gpu_busy_percent, telemetry, reading));
    CHECK(telemetry.gpu_busy_percent == 41.0);
  }
  SUBCASE("only allocated memory, with its own accounting") {
    statistics = {{"Alloc system memory", 5 << 20}};
    const Pool pool = read_pool(machine, reading);
    CHECK(pool.used == 5u << 20);
    CHECK(pool.accounting == Accounting::allocated);
  }
  SUBCASE("a percentage is not a number of bytes") {
    statistics = {{"GPU Core Utilization", 55}};
    CHECK_FALSE(read_pool(machine, reading).used);
  }
  SUBCASE("only unknown keys") {
    statistics = {{"Some New Key", 55}};
    CHECK_FALSE(read_pool(machine, reading).used);
    REQUIRE(reading.find("counts no memory in use") != nullptr);
    CHECK(reading.find("counts no memory in use")->field == pool_field::used);
  }
  SUBCASE("impossible values") {
    statistics = {{"Device Utilization %", 101}, {"In use system memory", -4096}};
    CHECK_FALSE(read_pool(machine, reading).used);
    Telemetry telemetry;
    CHECK_FALSE(machine.source.telemetry(0, telemetry_field::gpu_busy_percent, telemetry, reading));
  }
}

TEST_CASE("a driver without statistics yields no used value") {
  Machine machine;
  machine.hardware.gpus[0].has_statistics = false;
  PlainReading reading;
  CHECK_FALSE(read_pool(machine, reading).used);
  CHECK(reading.find("publishes no statistics") != nullptr);
}

TEST_CASE("the budget is absent if Metal has no matching device") {
  Machine machine;
  machine.hardware.devices.clear();
  PlainReading reading;
  SUBCASE("no device at all") {
    const Pool pool = read_pool(machine, reading);
    CHECK_FALSE(pool.budget);
    CHECK(pool.total == 16 * gib);
    REQUIRE(reading.find("Metal has no such device") != nullptr);
    CHECK(reading.find("Metal has no such device")->field == pool_field::budget);
    CHECK(machine.hardware.default_device_count == 1);
  }
  SUBCASE("the default device is used") {
    machine.hardware.default_device = {machine.hardware.gpus[0].id, 11 * gib};
    CHECK(read_pool(machine, reading).budget == 11 * gib);
  }
  SUBCASE("a budget of 0 is dropped") {
    machine.hardware.default_device = {machine.hardware.gpus[0].id, 0};
    CHECK_FALSE(read_pool(machine, reading).budget);
  }
  SUBCASE("no Metal framework") {
    machine.hardware.has_metal = false;
    CHECK_FALSE(read_pool(machine, reading).budget);
    CHECK(reading.find("Metal is not on this system") != nullptr);
  }
}

TEST_CASE("frameworks are loaded once, and again after closing") {
  Machine machine;
  PlainReading reading;
  REQUIRE(machine.devices(reading));
  REQUIRE(machine.devices(reading));
  CHECK(machine.hardware.loads == 1);
  machine.source.close();
  CHECK(hmn_fake::Apple::count_references() == 0);
  REQUIRE(machine.devices(reading));
  CHECK(machine.hardware.loads == 2);
}

TEST_CASE("missing frameworks are reported as no_source") {
  Machine machine;
  machine.hardware.has_frameworks = false;
  PlainReading reading;
  const auto devices = machine.devices(reading);
  REQUIRE_FALSE(devices);
  CHECK(devices.failure().code == Status::no_source);
  CHECK(reading.openings == 0);
  CHECK(machine.source.describe(Source::metal).state == State::unknown);
}

TEST_CASE("the system's loader reports which framework is missing") {
  const auto loaded = metal::load_frameworks();
  if (loaded) return;  // on macOS
  CHECK(loaded.failure().code == Status::no_source);
  CHECK(loaded.failure().message.view().find("CoreFoundation") != std::string_view::npos);
}

TEST_CASE("a refusal of IOKit is reported with its code") {
  Machine machine;
  machine.hardware.find_code = 0x10000003;  // MACH_SEND_INVALID_DEST
  PlainReading reading;
  const auto devices = machine.devices(reading);
  REQUIRE_FALSE(devices);
  CHECK(devices.failure().code == Status::backend);
  CHECK(devices.failure().native.domain == NativeDomain::kern);
  CHECK(devices.failure().native.code == 0x10000003);
}

TEST_CASE("no GPU is an empty list") {
  Machine machine;
  machine.hardware.gpus.clear();
  PlainReading reading;
  const auto devices = machine.devices(reading);
  REQUIRE(devices);
  CHECK(devices->empty());
}

TEST_CASE("a removed GPU is lost, and keeps its slot when it returns") {
  Machine machine;
  PlainReading reading;
  REQUIRE(machine.devices(reading));
  const auto gpus = machine.hardware.gpus;
  machine.hardware.gpus.clear();
  REQUIRE(machine.devices(reading));
  PoolList all;
  const auto result = machine.source.memory(0, all, reading);
  REQUIRE_FALSE(result);
  CHECK(result.failure().code == Status::device_lost);
  machine.hardware.gpus = gpus;
  REQUIRE(machine.devices(reading));
  CHECK(machine.source.memory(0, all, reading));
  CHECK(machine.source.memory(1, all, reading).failure().code == Status::no_device);
}

TEST_CASE("a process forked without exec is refused before a framework is loaded") {
  Machine machine;
  machine.system.own().is_forked_only = true;
  PlainReading reading;
  CHECK(machine.source.probe().failure().code == Status::state);
  const auto devices = machine.devices(reading);
  REQUIRE_FALSE(devices);
  CHECK(devices.failure().code == Status::state);
  CHECK(devices.failure().message.view().find("exec") != std::string_view::npos);
  CHECK(machine.hardware.loads == 0);
}

TEST_CASE("a real forked child is refused") {
  Machine machine;
  PlainReading reading;
  REQUIRE(machine.devices(reading));
  const pid_t child = fork();
  REQUIRE(child >= 0);
  if (child == 0) {
    machine.system.own_pid = getpid();
    machine.system.own().is_forked_only = true;
    metal::MetalSource fresh(hmn_fake::Mac::calls(), hmn_fake::Apple::load);
    const auto refused = fresh.prepare(reading);
    _exit(!refused && refused.failure().code == Status::state && machine.hardware.loads == 1 ? 0
                                                                                             : 1);
  }
  int code = 0;
  REQUIRE(waitpid(child, &code, 0) == child);
  CHECK(code == 0);
}

TEST_CASE("a virtual machine on Apple silicon has a virtual GPU") {
  Machine machine;
  machine.hardware.gpus[0].class_name = "AppleParavirtGPU";
  machine.system.set("machdep.cpu.brand_string", "Apple M1 (Virtual)");
  PlainReading reading;
  const auto devices = machine.devices(reading);
  REQUIRE(devices);
  CHECK((*devices)[0].form == DeviceForm::virtual_device);
}

namespace {

struct IntelMac : Machine {
  IntelMac() {
    system.set("machdep.cpu.brand_string", "Intel(R) Core(TM) i9-9980HK CPU @ 2.40GHz");
    hardware.gpus.resize(2);
    hmn_fake::MacGpu& card = hardware.gpus[0];
    card = {};
    card.id = 7;
    card.class_name = "AMDRadeonX6000_AMDNavi14GraphicsAccelerator";
    card.card = hmn_fake::MacCard();
    card.vram_megabytes = 4096;
    card.statistics = {{"Device Utilization %", 3},
                       {"vramUsedBytes", 1 << 30},
                       {"vramFreeBytes", std::int64_t{3} << 30}};
    hmn_fake::MacGpu& integrated = hardware.gpus[1];
    integrated = {};
    integrated.id = 8;
    integrated.class_name = "IntelAccelerator";
    integrated.card = hmn_fake::MacCard{0x8086, 0x3e9b, "Intel UHD Graphics 630", "0:2:0"};
    integrated.vram_megabytes = 1536;
    hardware.devices = {{8, gib}, {7, 4 * gib}};
  }
};

}  // namespace

TEST_CASE("the cards of an Intel Mac are listed, and no Apple GPU") {
  IntelMac machine;
  PlainReading reading;
  const auto devices = machine.devices(reading);
  REQUIRE(devices);
  REQUIRE(devices->size() == 2);
  const Device& card = (*devices)[0];
  CHECK(card.vendor == vendor::amd);
  CHECK(card.form == DeviceForm::discrete);
  CHECK(card.memory_kind == MemoryKind::dedicated);
  CHECK(card.name.view() == "AMD Radeon Pro 5300M");
  CHECK(card.pci_bus_id.view() == "0000:03:00.0");
  CHECK(card.pci_device == 0x7340u);
  CHECK((*devices)[1].vendor == vendor::intel);
  CHECK((*devices)[1].form == DeviceForm::integrated);
  CHECK((*devices)[1].pci_bus_id.view() == "0000:00:02.0");
  for (const Device& device : *devices) CHECK(device.vendor != vendor::apple);
  CHECK(machine.hardware.default_device_count == 0);
}

TEST_CASE("the pools of both GPUs of an Intel Mac are read") {
  IntelMac machine;
  PlainReading reading;
  REQUIRE(machine.devices(reading));
  PoolList all;
  REQUIRE(machine.source.memory(0, all, reading));
  const Pool card = all.all()[0];
  CHECK(card.kind == PoolKind::vram);
  CHECK(card.total == 4 * gib);
  CHECK(card.used == gib);
  CHECK(card.free == 3 * gib);
  CHECK(card.budget == 4 * gib);
  all.clear();
  REQUIRE(machine.source.memory(1, all, reading));
  CHECK(all.all()[0].kind == PoolKind::unified);
  CHECK(all.all()[0].total == 16 * gib);  // not the 1536 MiB that its driver names
  CHECK(all.all()[0].budget == gib);
}

TEST_CASE("use above the total is dropped") {
  IntelMac machine;
  machine.hardware.gpus[0].statistics["vramUsedBytes"] = std::int64_t{5} << 30;
  PlainReading reading;
  REQUIRE(machine.devices(reading));
  PoolList all;
  REQUIRE(machine.source.memory(0, all, reading));
  REQUIRE(keep_plausible(all, 0, reading));
  CHECK_FALSE(all.all()[0].used);
}

TEST_CASE("an Intel Mac reports the load, and no other sensor") {
  IntelMac machine;
  machine.hardware.thermometers = {{"GPU MTR Temp Sensor1", 40}};
  PlainReading reading;
  REQUIRE(machine.devices(reading));
  Telemetry telemetry;
  REQUIRE(machine.source.telemetry(0, telemetry_field::all, telemetry, reading));
  CHECK(telemetry.gpu_busy_percent == 3.0);
  CHECK_FALSE(telemetry.temperature_celsius);
  const auto none = machine.source.telemetry(0, telemetry_field::power_watts, telemetry, reading);
  REQUIRE_FALSE(none);
  CHECK(none.failure().code == Status::unsupported);
}
