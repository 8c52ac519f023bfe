// SPDX-License-Identifier: MIT OR Apache-2.0
//
// A partitioned Instinct card: the kernel creates a node for each possible partition, and
// KFD lists those in use.
#include <doctest/doctest.h>

#include "../amdgpu/cards.hpp"
#include "machine.hpp"

using namespace hmn;
using namespace amdgpu_test;
using namespace drm_test;

namespace {

void add_partition_node(const Machine& machine, const char* name, const FakeNode& node) {
  const std::string path = std::string("devices/platform/") + name;
  machine.add_platform(name, "none", {node});
  machine.tree().remove("sys/" + path + "/driver");
}

struct SplitMachine : Machine {
  explicit SplitMachine(bool old_locations = false) {
    add_pci(navi("0000:05:00.0"), {card0, render128});
    add_partition_node(*this, "amdgpu_xcp_1", render129);
    add_partition_node(*this, "amdgpu_xcp_2", {"renderD130", "/dev/random"});
    set_kfd_generation(tree(), 1);
    add_kfd_node(tree(), {.node = 2, .gpu_id = 100, .location = 0x500, .memory = 8 * gib});
    add_kfd_node(tree(), {.node = 3,
                          .gpu_id = 101,
                          .location = old_locations ? 0x501U : 0x10000500U,
                          .render_minor = 129,
                          .memory = 8 * gib});
    hmn_fake::set_pid_namespace(tree(), 1, 4026531836);
    hmn_fake::set_self(tree(), 1);
  }
};

}  // namespace

TEST_CASE("a partition is a device below its card; an unused render node is not listed") {
  for (const bool old_locations : {false, true}) {
    CAPTURE(old_locations);
    SplitMachine machine(old_locations);
    PlainReading reading;
    const auto devices = machine.devices(reading);
    REQUIRE(devices.size() == 2);
    const bool card_first = devices[0].form == DeviceForm::discrete;
    const Device& card = devices[card_first ? 0 : 1];
    const Device& partition = devices[card_first ? 1 : 0];
    CHECK(partition.is_partition);
    CHECK(partition.parent == card.slot);
    CHECK(partition.render_minor == 129u);
    CHECK(partition.vendor == vendor::amd);
    CHECK(partition.name.view() == card.name.view());
    CHECK(partition.uuid.empty());  // with the card's UUID both would be one device
    CHECK(partition.source == Source::amdgpu);
    CHECK_FALSE(card.parent);
  }
}

TEST_CASE("a partition has its share of memory and no sensors of the whole card") {
  SplitMachine machine;
  PlainReading reading;
  const auto devices = machine.devices(reading);
  REQUIRE(devices.size() == 2);
  for (const Device& device : devices) {
    PoolList pools;
    REQUIRE(machine.source().memory(device.slot, pools, reading));
    const bool is_partition = device.is_partition;
    CHECK(pools.find(PoolKind::main)->total == (is_partition ? 8 * gib : 16 * gib));
    CHECK(pools.find(PoolKind::main)->used.has_value() == !is_partition);
    Telemetry telemetry;
    const Result<void> result =
        machine.source().telemetry(device.slot, telemetry_field::all, telemetry, reading);
    CHECK(static_cast<bool>(result) == !is_partition);
    std::vector<Metric> metrics;
    REQUIRE(machine.source().metrics(device.slot, true, metrics, reading));
    CHECK(metrics.empty() == is_partition);
    if (!is_partition) continue;
    CHECK(result.failure().code == Status::unsupported);
    CHECK(result.failure().message.view().find("whole GPU") != std::string_view::npos);
    const Diagnostic* const diagnostic =
        reading.find("sensors, power and clocks are of the whole GPU");
    REQUIRE(diagnostic != nullptr);
    CHECK(diagnostic->device == device.slot);
    CHECK(diagnostic->subject == subject::metrics);
  }
}

TEST_CASE("processes are listed under their partition") {
  SplitMachine machine;
  set_kfd_vram(machine.tree(), 50, 100, 1 * mib);
  set_kfd_vram(machine.tree(), 51, 101, 2 * mib);
  machine.add_process(60, {{3, render129.device_file, client_text("0000:05:00.0", 9, 16, 0)}});
  PlainReading reading;
  for (const Device& device : machine.devices(reading)) {
    const bool is_partition = device.is_partition;
    const auto rows = machine.rows(device.slot, reading);
    REQUIRE(rows.size() == (is_partition ? 2 : 1));
    for (const Usage& usage : rows) CHECK((usage.pid == 50) == !is_partition);
  }
}

TEST_CASE("a change of the partition mode appears in the next device list") {
  SplitMachine machine;
  PlainReading reading;
  REQUIRE(machine.devices(reading).size() == 2);
  machine.tree().remove("sys/class/kfd/kfd/topology/nodes/3");
  set_kfd_generation(machine.tree(), 2);
  CHECK(machine.devices(reading).size() == 2 - 1);
  add_kfd_node(machine.tree(),
               {.node = 3, .gpu_id = 101, .location = 0x10000500, .render_minor = 129});
  add_kfd_node(machine.tree(),
               {.node = 4, .gpu_id = 102, .location = 0x20000500, .render_minor = 130});
  set_kfd_generation(machine.tree(), 3);
  std::vector<Device> devices;
  REQUIRE(machine.source().devices(devices, reading));
  CHECK(devices.size() == 3);
}

TEST_CASE("partitions are not listed if amdgpu is disabled") {
  SplitMachine machine;
  Settings settings = machine.settings();
  settings.disabled_sources = source_bit(Source::amdgpu);
  drm::DrmSource source(settings);
  PlainReading reading;
  std::vector<Device> devices;
  REQUIRE(source.prepare(reading));
  REQUIRE(source.devices(devices, reading));
  REQUIRE(devices.size() == 1);
  CHECK(devices[0].pci_bus_id.view() == "0000:05:00.0");
}
