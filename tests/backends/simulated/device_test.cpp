// SPDX-License-Identifier: MIT OR Apache-2.0
#include <doctest/doctest.h>

#include <string>

#include "simulation.hpp"

namespace {

hmn_device read_device(const std::string& members, std::uint32_t index = 0) {
  Simulation simulation(make_machine(members));
  auto device = sized<hmn_device>();
  auto error = sized<hmn_error>();
  const hmn_status status = hmn_device_read(simulation.context(), index, 0, &device, &error);
  INFO(error.message);
  REQUIRE(status == HMN_OK);
  return device;
}

}  // namespace

TEST_CASE("every field of a device is reported") {
  const hmn_device device = read_device(R"(
      "name":"NVIDIA A100-PCIE-40GB MIG 1g.5gb", "uuid":"MIG-1", "pci_bus_id":"0000:3b:00.0",
      "driver_version":"535.183.06", "vendor":"nvidia", "pci_device":"0x20f1",
      "pci_subsystem":"0x145f10de", "driver_index":3, "render_minor":129, "numa_node":1,
      "cuda_version":{"major":12,"minor":2}, "compute_capability":{"major":8,"minor":0}, "architecture":"Ampere", "instance":{"gpu":9,"compute":2}, "os_id":"0xfedcba9876543210",
      "device_class":"gpu", "form":"virtual", "memory_kind":"coherent", "state":"unreadable", "notes":["mixed"])");
  CHECK(device.present == 0x7fef);  // all but the parent
  CHECK(device.notes == HMN_NOTE_MIXED);
  CHECK(device.backend == HMN_BACKEND_SIMULATED);
  CHECK(device.index == 0);
  CHECK(std::string(device.name) == "NVIDIA A100-PCIE-40GB MIG 1g.5gb");
  CHECK(std::string(device.uuid) == "MIG-1");
  CHECK(std::string(device.pci_bus_id) == "0000:3b:00.0");
  CHECK(std::string(device.driver_version) == "535.183.06");
  CHECK(device.vendor == HMN_VENDOR_NVIDIA);
  CHECK(device.pci_device == 0x20f1);
  CHECK(device.pci_subsystem == 0x145f10de);
  CHECK(device.driver_index == 3);
  CHECK(device.render_minor == 129);
  CHECK(device.numa_node == 1);
  CHECK(device.cuda_version_major == 12);
  CHECK(device.cuda_version_minor == 2);
  CHECK(device.compute_capability_major == 8);
  CHECK(device.compute_capability_minor == 0);
  CHECK(std::string(device.architecture) == "Ampere");
  CHECK(device.gpu_instance == 9);
  CHECK(device.compute_instance == 2);
  CHECK(device.os_id == 0xfedcba9876543210U);
  CHECK(device.device_class == HMN_DEVICE_CLASS_GPU);
  CHECK(device.form == HMN_DEVICE_FORM_VIRTUAL);
  CHECK(device.memory_kind == HMN_MEMORY_KIND_COHERENT);
  CHECK(device.state == HMN_RUN_STATE_UNREADABLE);
}

TEST_CASE("an unknown name is absent, without a placeholder") {
  const hmn_device nameless = read_device(R"("driver_version":"591.86")");
  CHECK(nameless.present == HMN_DEVICE_HAS_DRIVER);
  CHECK(std::string(nameless.name).empty());
  CHECK(std::string(nameless.driver_version) == "591.86");
}

TEST_CASE("an omitted field is absent, and kinds follow from the pools") {
  const hmn_device bare = read_device("");
  CHECK(bare.present == 0);
  CHECK(bare.vendor == HMN_VENDOR_UNKNOWN);
  CHECK(bare.state == HMN_RUN_STATE_READY);
  CHECK(bare.form == HMN_DEVICE_FORM_DISCRETE);
  CHECK(bare.memory_kind == HMN_MEMORY_KIND_UNKNOWN);
  CHECK(read_device(R"("pools":[{"kind":"vram"}])").memory_kind == HMN_MEMORY_KIND_DEDICATED);
  const hmn_device unified = read_device(R"("pools":[{"kind":"unified"}])");
  CHECK(unified.memory_kind == HMN_MEMORY_KIND_UNIFIED);
  CHECK(unified.form == HMN_DEVICE_FORM_INTEGRATED);
}

TEST_CASE("vendors are words or PCI ids") {
  CHECK(read_device(R"("vendor":"amd")").vendor == HMN_VENDOR_AMD);
  CHECK(read_device(R"("vendor":"intel")").vendor == HMN_VENDOR_INTEL);
  CHECK(read_device(R"("vendor":"0x106b")").vendor == HMN_VENDOR_APPLE);
  CHECK(read_device(R"("vendor":20803)").vendor == HMN_VENDOR_QUALCOMM);
}

TEST_CASE("a text that is too long is cut at a code point and noted") {
  const hmn_device device = read_device("\"name\":\"" + std::string(254, 'x') + "é\"");
  CHECK(std::string(device.name) == std::string(254, 'x'));
  CHECK(device.notes == HMN_NOTE_TRUNCATED);
  const hmn_device uncut = read_device("\"name\":\"" + std::string(253, 'x') + "é\"");
  CHECK(std::string(uncut.name) == std::string(253, 'x') + "é");
  CHECK(uncut.notes == 0);
}

TEST_CASE("partitions follow the index rules and inherit from their parent") {
  Simulation simulation(R"({"devices":[
      {"name":"A","vendor":"nvidia","uuid":"GPU-A","driver_version":"1.2","cuda_version":{"major":12,"minor":4},
       "compute_capability":{"major":9,"minor":0},"architecture":"Hopper",
       "partitions":[{"name":"A1","uuid":"MIG-1","instance":{"gpu":1,"compute":0}},
                     {"name":"A2","driver_version":"3"}]},
      {"name":"B","vendor":"nvidia","uuid":"GPU-B"}]})");
  const SnapshotCopy snapshot(simulation);
  REQUIRE(snapshot.devices.size() == 4);
  CHECK(std::string(snapshot.devices[0].name) == "A");
  CHECK(std::string(snapshot.devices[1].name) == "B");
  CHECK(std::string(snapshot.devices[2].name) == "A1");
  CHECK(std::string(snapshot.devices[3].name) == "A2");
  CHECK((snapshot.devices[0].present & HMN_DEVICE_HAS_PARENT) == 0);
  for (std::size_t i = 2; i < 4; ++i) {
    const hmn_device& device = snapshot.devices[i];
    CHECK((device.present & HMN_DEVICE_HAS_PARENT) != 0);
    CHECK(device.parent_index == 0);
    CHECK(device.device_class == HMN_DEVICE_CLASS_GPU);
    CHECK(device.form == HMN_DEVICE_FORM_DISCRETE);
    CHECK(device.vendor == HMN_VENDOR_NVIDIA);
    CHECK(device.cuda_version_major == 12);
    CHECK(device.cuda_version_minor == 4);
    CHECK(device.compute_capability_major == 9);
    CHECK(device.compute_capability_minor == 0);
    CHECK(std::string(device.architecture) == "Hopper");
  }
  CHECK(std::string(snapshot.devices[2].driver_version) == "1.2");
  CHECK(std::string(snapshot.devices[3].driver_version) == "3");
}

TEST_CASE("a sleeping device reports only its identity, unless it may be woken") {
  const std::string asleep = make_machine(
      R"("name":"Laptop","state":"asleep","pools":[{"kind":"vram","total":"8GiB","used":0}],
         "telemetry":{"power_watts":2})");
  Simulation simulation(asleep);
  const SnapshotCopy snapshot(simulation);
  REQUIRE(snapshot.devices.size() == 1);
  CHECK(std::string(snapshot.devices[0].name) == "Laptop");
  CHECK(snapshot.devices[0].state == HMN_RUN_STATE_ASLEEP);
  CHECK(snapshot.pools.empty());
  CHECK(!snapshot.telemetry[0]);
  REQUIRE(snapshot.find_diagnostic(HMN_COLLECT_POOLS) != nullptr);
  CHECK(snapshot.find_diagnostic(HMN_COLLECT_POOLS)->status == HMN_E_ASLEEP);
  CHECK(simulation.read_pool() == HMN_E_ASLEEP);

  Simulation woken(asleep, {.flags = HMN_CONTEXT_WAKE_DEVICES});
  const SnapshotCopy woken_snapshot(woken);
  CHECK(woken_snapshot.devices[0].state == HMN_RUN_STATE_READY);
  REQUIRE(woken_snapshot.pools.size() == 1);
  CHECK(woken_snapshot.pools[0].total_bytes == 8 * gib);
  REQUIRE(woken_snapshot.telemetry[0]);
  CHECK(woken_snapshot.telemetry[0]->power_watts == 2);
}

TEST_CASE("lost and unreadable devices have diagnostics, and their neighbour has none") {
  Simulation simulation(R"({"devices":[
      {"uuid":"A","state":"lost","pools":[{"kind":"vram","total":1}]},
      {"uuid":"B","state":"unreadable","pools":[{"kind":"vram","total":1}]},
      {"uuid":"C","pools":[{"kind":"vram","total":1}]}]})");
  const SnapshotCopy snapshot(simulation, HMN_COLLECT_POOLS);
  REQUIRE(snapshot.devices.size() == 3);
  CHECK(snapshot.devices[0].state == HMN_RUN_STATE_LOST);
  CHECK(snapshot.devices[1].state == HMN_RUN_STATE_UNREADABLE);
  CHECK(snapshot.devices[2].state == HMN_RUN_STATE_READY);
  REQUIRE(snapshot.pools.size() == 1);
  CHECK(snapshot.pools[0].device_index == 2);
  REQUIRE(snapshot.diagnostics.size() == 2);
  CHECK(snapshot.find_diagnostic(HMN_COLLECT_POOLS, 0)->status == HMN_E_DEVICE_LOST);
  CHECK(snapshot.find_diagnostic(HMN_COLLECT_POOLS, 1)->status == HMN_E_BACKEND);
  CHECK(simulation.read_pool(0) == HMN_E_DEVICE_LOST);
  CHECK(simulation.read_pool(2) == HMN_OK);
}

TEST_CASE("simulated devices are found by their keys") {
  Simulation simulation(R"({"devices":[{"uuid":"GPU-A","vendor":"nvidia","driver_index":4,
                               "render_minor":130,"pci_bus_id":"0000:af:00.0","os_id":"0x1f"}]})");
  for (const char* key :
       {"uuid:GPU-A", "driver:nvidia:4", "render:130", "pci:AF:00.0", "luid:1f"}) {
    CAPTURE(key);
    std::uint32_t index = 7;
    CHECK(hmn_device_find(simulation.context(), key, &index, nullptr) == HMN_OK);
    CHECK(index == 0);
  }
}
