// SPDX-License-Identifier: MIT OR Apache-2.0
#include <cstdio>
#include <cstring>

#include "reader.hpp"

namespace fake_nvml {
namespace {

void spell(PciInfo& pci) {
  std::snprintf(pci.bus_id_legacy, sizeof pci.bus_id_legacy, "%04X:%02X:%02X.0",
                pci.domain & 0xFFFFU, pci.bus & 0xFFU, pci.device & 0xFFU);
  std::snprintf(pci.bus_id, sizeof pci.bus_id, "%08X:%02X:%02X.0", pci.domain, pci.bus & 0xFFU,
                pci.device & 0xFFU);
}

void read_address(const std::string& text, const std::string& place, PciInfo& pci) {
  char end = 0;
  const int got =
      std::sscanf(text.c_str(), "%x:%x:%x.0%c", &pci.domain, &pci.bus, &pci.device, &end);
  if (got != 3) refuse(place, "not a PCI address such as 0000:01:00.0");
}

PciInfo pci_from(const json& value, const std::string& place) {
  PciInfo pci{};
  Object in(value, place);
  if (const json* address = in.find("address"))
    read_address(text_from(*address, in.at("address")), in.at("address"), pci);
  pci.domain = small_or(in, "domain", pci.domain);
  pci.bus = small_or(in, "bus", pci.bus);
  pci.device = small_or(in, "device", pci.device);
  pci.pci_device_id = small_or(in, "device_id", 0x268410DE);
  pci.pci_subsystem_id = small_or(in, "subsystem_id", 0);
  in.finish();
  spell(pci);
  return pci;
}

PciInfo default_pci(unsigned index) {
  PciInfo pci{};
  pci.bus = index + 1;
  pci.pci_device_id = 0x268410DE;
  spell(pci);
  return pci;
}

MemoryV1 memory_v1_from(const json& value, const std::string& place) {
  Object in(value, place);
  const MemoryV1 out{number_or(in, "total", 0), number_or(in, "free", 0), number_or(in, "used", 0)};
  in.finish();
  return out;
}

MemoryV2 memory_v2_from(const json& value, const std::string& place) {
  Object in(value, place);
  const MemoryV2 out{0, number_or(in, "total", 0), number_or(in, "reserved", 0),
                     number_or(in, "free", 0), number_or(in, "used", 0)};
  in.finish();
  return out;
}

Bar1Memory bar1_from(const json& value, const std::string& place) {
  const auto same = memory_v1_from(value, place);
  return {same.total, same.free, same.used};
}

Attributes attributes_from(const json& value, const std::string& place) {
  Object in(value, place);
  Attributes out{};
  out.multiprocessors = small_or(in, "multiprocessors", 0);
  out.copy_engines = small_or(in, "copy_engines", 0);
  out.decoders = small_or(in, "decoders", 0);
  out.encoders = small_or(in, "encoders", 0);
  out.jpegs = small_or(in, "jpegs", 0);
  out.ofas = small_or(in, "ofas", 0);
  out.gpu_slices = small_or(in, "gpu_slices", 0);
  out.compute_slices = small_or(in, "compute_slices", 0);
  out.memory_mib = number_or(in, "memory_mib", 0);
  in.finish();
  return out;
}

unsigned addressing_from(const json& value, const std::string& place) {
  const auto text = text_from(value, place);
  if (text == "none") return 0;
  if (text == "hmm") return 1;
  if (text == "ats") return 2;
  refuse(place, "not none, hmm or ats");
}

void read_capability(Object& in, Device& out) {
  const json* value = in.find("compute_capability");
  if (!value) return;
  const auto place = in.at("compute_capability");
  if (const auto code = error_in(*value, place)) {
    out.compute_major.result = *code;
    return;
  }
  if (!value->is_array() || value->size() != 2) refuse(place, "not [major, minor]");
  out.compute_major = Answer<int>((*value)[0].get<int>());
  out.compute_minor = Answer<int>((*value)[1].get<int>());
}

}  // namespace

void read_identity(Object& in, Device& out) {
  char uuid[64];
  std::snprintf(uuid, sizeof uuid, "GPU-00000000-0000-0000-0000-%012u", out.index);
  if (!out.parent) {
    out.name = Answer<std::string>("NVIDIA Fake GPU");
    out.uuid = Answer<std::string>(uuid);
    out.pci = Answer<PciInfo>(default_pci(out.index));
    out.minor = Answer<unsigned>(out.index);
  }
  take(in, "name", out.name);
  take(in, "uuid", out.uuid);
  take(in, "serial", out.serial);
  take(in, "vbios", out.vbios);
  take(in, "pci", out.pci, pci_from);
  take(in, "minor", out.minor);
  take(in, "brand", out.brand);
  take(in, "architecture", out.architecture);
  take(in, "persistence", out.persistence);
  take(in, "virtualization", out.virtualization);
  read_capability(in, out);
}

void read_memory(Object& in, Device& out) {
  take(in, "memory", out.memory, memory_v1_from);
  take(in, "memory_v2", out.memory_v2, memory_v2_from);
  take(in, "bar1", out.bar1, bar1_from);
  take(in, "attributes", out.attribute, attributes_from);
  take(in, "numa_node", out.numa_node);
  take(in, "c2c", out.c2c, [](const json& value, const std::string& place) {
    return truth_from(value, place) ? 1U : 0U;
  });
  take(in, "addressing_mode", out.addressing, addressing_from);
}

void read_results(Object& in, Device& out) {
  const json* value = in.find("results");
  if (!value) return;
  Object results(*value, in.at("results"));
  for (const auto& [pattern, code] : value->items()) {
    results.find(pattern);
    const auto result = status_from(code, results.at(pattern));
    for (const auto c : calls_from(pattern, results.at(pattern)))
      out.results.emplace_back(c, result);
  }
}

void read_mig(Object& in, Device& out) {
  const json* value = in.find("mig");
  if (!value) return;
  Object mig(*value, in.at("mig"));
  const auto current = small_or(mig, "mode", 1);
  out.mig_mode = Answer<EccMode>({current, small_or(mig, "pending", current)});
  out.mig_max = small_or(mig, "max", current ? 7 : 0);
  const bool as_gpu = truth_or(mig, "as_gpu", false);
  const json* list = mig.find("instances");
  for (std::size_t i = 0; list && i < list->size(); ++i) {
    auto child = std::make_unique<Device>();
    child->parent = &out;
    child->index = out.index;
    if (as_gpu) {
      read_memory(in, *child);
      read_telemetry(in, *child);
      read_processes(in, *child);
    }
    Object one((*list)[i], mig.at("instances[" + std::to_string(i) + "]"));
    child->slot = small_or(one, "slot", static_cast<unsigned>(i));
    child->gpu_instance = small_or(one, "gi", child->slot + 1);
    child->compute_instance = small_or(one, "ci", 0);
    read_identity(one, *child);
    read_memory(one, *child);
    read_telemetry(one, *child);
    read_processes(one, *child);
    read_results(one, *child);
    one.finish();
    out.instances.push_back(std::move(child));
  }
  mig.finish();
}

}  // namespace fake_nvml
