// SPDX-License-Identifier: MIT OR Apache-2.0
#include <doctest/doctest.h>

#include <string>

#include "simulation.hpp"

namespace {

hmn_device device_of(const std::string& members, std::uint32_t index = 0) {
  Simulation s(one_device(members));
  auto d = sized<hmn_device>();
  auto error = sized<hmn_error>();
  const hmn_status said = hmn_device_read(s.context(), index, 0, &d, &error);
  INFO(error.message);
  REQUIRE(said == HMN_OK);
  return d;
}

}  // namespace

TEST_CASE("every field of a device is told") {
  const hmn_device d = device_of(R"(
      "name":"NVIDIA A100-PCIE-40GB MIG 1g.5gb", "uuid":"MIG-1", "pci_bus_id":"0000:3b:00.0",
      "driver_version":"535.183.06", "vendor":"nvidia", "pci_device":"0x20f1",
      "pci_subsystem":"0x145f10de", "driver_index":3, "render_minor":129, "numa_node":1,
      "cuda_version":{"major":12,"minor":2}, "compute_capability":{"major":8,"minor":0}, "architecture":"Ampere", "instance":{"gpu":9,"compute":2}, "os_id":"0xfedcba9876543210",
      "device_class":"gpu", "form":"virtual", "memory_kind":"coherent", "state":"unreadable", "notes":["mixed"])");
  CHECK(d.present == 0x7fef);  // all but the parent
  CHECK(d.notes == HMN_NOTE_MIXED);
  CHECK(d.backend == HMN_BACKEND_SIMULATED);
  CHECK(d.index == 0);
  CHECK(std::string(d.name) == "NVIDIA A100-PCIE-40GB MIG 1g.5gb");
  CHECK(std::string(d.uuid) == "MIG-1");
  CHECK(std::string(d.pci_bus_id) == "0000:3b:00.0");
  CHECK(std::string(d.driver_version) == "535.183.06");
  CHECK(d.vendor == HMN_VENDOR_NVIDIA);
  CHECK(d.pci_device == 0x20f1);
  CHECK(d.pci_subsystem == 0x145f10de);
  CHECK(d.driver_index == 3);
  CHECK(d.render_minor == 129);
  CHECK(d.numa_node == 1);
  CHECK(d.cuda_version_major == 12);
  CHECK(d.cuda_version_minor == 2);
  CHECK(d.compute_capability_major == 8);
  CHECK(d.compute_capability_minor == 0);
  CHECK(std::string(d.architecture) == "Ampere");
  CHECK(d.gpu_instance == 9);
  CHECK(d.compute_instance == 2);
  CHECK(d.os_id == 0xfedcba9876543210U);
  CHECK(d.device_class == HMN_DEVICE_CLASS_GPU);
  CHECK(d.form == HMN_DEVICE_FORM_VIRTUAL);
  CHECK(d.memory_kind == HMN_MEMORY_KIND_COHERENT);
  CHECK(d.state == HMN_RUN_STATE_UNREADABLE);
}

TEST_CASE("a name that is not known is absent, not a word for it") {
  const hmn_device nameless = device_of(R"("driver_version":"591.86")");
  CHECK(nameless.present == HMN_DEVICE_HAS_DRIVER);
  CHECK(std::string(nameless.name).empty());
  CHECK(std::string(nameless.driver_version) == "591.86");
}

TEST_CASE("what is left out is absent, and kinds follow from the pools") {
  const hmn_device bare = device_of("");
  CHECK(bare.present == 0);
  CHECK(bare.vendor == HMN_VENDOR_UNKNOWN);
  CHECK(bare.state == HMN_RUN_STATE_READY);
  CHECK(bare.form == HMN_DEVICE_FORM_DISCRETE);
  CHECK(bare.memory_kind == HMN_MEMORY_KIND_UNKNOWN);
  CHECK(device_of(R"("pools":[{"kind":"vram"}])").memory_kind == HMN_MEMORY_KIND_DEDICATED);
  const hmn_device unified = device_of(R"("pools":[{"kind":"unified"}])");
  CHECK(unified.memory_kind == HMN_MEMORY_KIND_UNIFIED);
  CHECK(unified.form == HMN_DEVICE_FORM_INTEGRATED);
}

TEST_CASE("vendors are words or PCI ids") {
  CHECK(device_of(R"("vendor":"amd")").vendor == HMN_VENDOR_AMD);
  CHECK(device_of(R"("vendor":"intel")").vendor == HMN_VENDOR_INTEL);
  CHECK(device_of(R"("vendor":"0x106b")").vendor == HMN_VENDOR_APPLE);
  CHECK(device_of(R"("vendor":20803)").vendor == HMN_VENDOR_QUALCOMM);
}

TEST_CASE("a text too long is cut at a code point and noted") {
  const hmn_device d = device_of("\"name\":\"" + std::string(254, 'x') + "é\"");
  CHECK(std::string(d.name) == std::string(254, 'x'));
  CHECK(d.notes == HMN_NOTE_TRUNCATED);
  const hmn_device whole = device_of("\"name\":\"" + std::string(253, 'x') + "é\"");
  CHECK(std::string(whole.name) == std::string(253, 'x') + "é");
  CHECK(whole.notes == 0);
}

TEST_CASE("partitions follow the rules of indexes and inherit from their parent") {
  Simulation s(R"({"devices":[
      {"name":"A","vendor":"nvidia","uuid":"GPU-A","driver_version":"1.2","cuda_version":{"major":12,"minor":4},
       "compute_capability":{"major":9,"minor":0},"architecture":"Hopper",
       "partitions":[{"name":"A1","uuid":"MIG-1","instance":{"gpu":1,"compute":0}},
                     {"name":"A2","driver_version":"3"}]},
      {"name":"B","vendor":"nvidia","uuid":"GPU-B"}]})");
  const TakenSnapshot p(s);
  REQUIRE(p.devices.size() == 4);
  CHECK(std::string(p.devices[0].name) == "A");
  CHECK(std::string(p.devices[1].name) == "B");
  CHECK(std::string(p.devices[2].name) == "A1");
  CHECK(std::string(p.devices[3].name) == "A2");
  CHECK((p.devices[0].present & HMN_DEVICE_HAS_PARENT) == 0);
  for (std::size_t i = 2; i < 4; ++i) {
    const hmn_device& d = p.devices[i];
    CHECK((d.present & HMN_DEVICE_HAS_PARENT) != 0);
    CHECK(d.parent_index == 0);
    CHECK(d.device_class == HMN_DEVICE_CLASS_GPU);
    CHECK(d.form == HMN_DEVICE_FORM_DISCRETE);
    CHECK(d.vendor == HMN_VENDOR_NVIDIA);
    CHECK(d.cuda_version_major == 12);
    CHECK(d.cuda_version_minor == 4);
    CHECK(d.compute_capability_major == 9);
    CHECK(d.compute_capability_minor == 0);
    CHECK(std::string(d.architecture) == "Hopper");
  }
  CHECK(std::string(p.devices[2].driver_version) == "1.2");
  CHECK(std::string(p.devices[3].driver_version) == "3");
}

TEST_CASE("a sleeping device tells who it is and no more, unless it may be woken") {
  const std::string asleep = one_device(
      R"("name":"Laptop","state":"asleep","pools":[{"kind":"vram","total":"8GiB","used":0}],
         "telemetry":{"power_watts":2})");
  Simulation s(asleep);
  const TakenSnapshot p(s);
  REQUIRE(p.devices.size() == 1);
  CHECK(std::string(p.devices[0].name) == "Laptop");
  CHECK(p.devices[0].state == HMN_RUN_STATE_ASLEEP);
  CHECK(p.pools.empty());
  CHECK(!p.telemetry[0]);
  REQUIRE(p.about(HMN_COLLECT_POOLS) != nullptr);
  CHECK(p.about(HMN_COLLECT_POOLS)->status == HMN_E_ASLEEP);
  CHECK(s.read_pool() == HMN_E_ASLEEP);

  Simulation woken(asleep, {.flags = HMN_CONTEXT_WAKE_DEVICES});
  const TakenSnapshot q(woken);
  CHECK(q.devices[0].state == HMN_RUN_STATE_READY);
  REQUIRE(q.pools.size() == 1);
  CHECK(q.pools[0].total_bytes == 8 * gib);
  REQUIRE(q.telemetry[0]);
  CHECK(q.telemetry[0]->power_watts == 2);
}

TEST_CASE("a lost and an unreadable device are diagnosed, their neighbour is not") {
  Simulation s(R"({"devices":[
      {"uuid":"A","state":"lost","pools":[{"kind":"vram","total":1}]},
      {"uuid":"B","state":"unreadable","pools":[{"kind":"vram","total":1}]},
      {"uuid":"C","pools":[{"kind":"vram","total":1}]}]})");
  const TakenSnapshot p(s, HMN_COLLECT_POOLS);
  REQUIRE(p.devices.size() == 3);
  CHECK(p.devices[0].state == HMN_RUN_STATE_LOST);
  CHECK(p.devices[1].state == HMN_RUN_STATE_UNREADABLE);
  CHECK(p.devices[2].state == HMN_RUN_STATE_READY);
  REQUIRE(p.pools.size() == 1);
  CHECK(p.pools[0].device_index == 2);
  REQUIRE(p.diagnostics.size() == 2);
  CHECK(p.about(HMN_COLLECT_POOLS, 0)->status == HMN_E_DEVICE_LOST);
  CHECK(p.about(HMN_COLLECT_POOLS, 1)->status == HMN_E_BACKEND);
  CHECK(s.read_pool(0) == HMN_E_DEVICE_LOST);
  CHECK(s.read_pool(2) == HMN_OK);
}

TEST_CASE("keys find simulated devices") {
  Simulation s(R"({"devices":[{"uuid":"GPU-A","vendor":"nvidia","driver_index":4,
                               "render_minor":130,"pci_bus_id":"0000:af:00.0","os_id":"0x1f"}]})");
  for (const char* key :
       {"uuid:GPU-A", "driver:nvidia:4", "render:130", "pci:AF:00.0", "luid:1f"}) {
    CAPTURE(key);
    std::uint32_t index = 7;
    CHECK(hmn_device_find(s.context(), key, &index, nullptr) == HMN_OK);
    CHECK(index == 0);
  }
}
