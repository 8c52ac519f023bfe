// SPDX-License-Identifier: MIT OR Apache-2.0
#include <cstdio>
#include <cstring>

#include "reader.hpp"

namespace fake_nvml {
namespace {

void format_addresses(PciInfo& pci) {
  std::snprintf(pci.bus_id_legacy, sizeof pci.bus_id_legacy, "%04X:%02X:%02X.0",
                pci.domain & 0xFFFFU, pci.bus & 0xFFU, pci.device & 0xFFU);
  std::snprintf(pci.bus_id, sizeof pci.bus_id, "%08X:%02X:%02X.0", pci.domain, pci.bus & 0xFFU,
                pci.device & 0xFFU);
}

void read_address(const std::string& text, const std::string& location, PciInfo& pci) {
  char end = 0;
  const int count =
      std::sscanf(text.c_str(), "%x:%x:%x.0%c", &pci.domain, &pci.bus, &pci.device, &end);
  if (count != 3) refuse(location, "not a PCI address such as 0000:01:00.0");
}

PciInfo parse_pci(const json& value, const std::string& location) {
  PciInfo pci{};
  Object object(value, location);
  if (const json* address = object.find("address"))
    read_address(parse_text(*address, object.locate("address")), object.locate("address"), pci);
  pci.domain = read_unsigned_or(object, "domain", pci.domain);
  pci.bus = read_unsigned_or(object, "bus", pci.bus);
  pci.device = read_unsigned_or(object, "device", pci.device);
  pci.pci_device_id = read_unsigned_or(object, "device_id", 0x268410DE);
  pci.pci_subsystem_id = read_unsigned_or(object, "subsystem_id", 0);
  object.finish();
  format_addresses(pci);
  return pci;
}

PciInfo default_pci(unsigned index) {
  PciInfo pci{};
  pci.bus = index + 1;
  pci.pci_device_id = 0x268410DE;
  format_addresses(pci);
  return pci;
}

MemoryV1 parse_memory_v1(const json& value, const std::string& location) {
  Object object(value, location);
  const MemoryV1 out{read_number_or(object, "total", 0), read_number_or(object, "free", 0),
                     read_number_or(object, "used", 0)};
  object.finish();
  return out;
}

MemoryV2 parse_memory_v2(const json& value, const std::string& location) {
  Object object(value, location);
  const MemoryV2 out{0, read_number_or(object, "total", 0), read_number_or(object, "reserved", 0),
                     read_number_or(object, "free", 0), read_number_or(object, "used", 0)};
  object.finish();
  return out;
}

Bar1Memory parse_bar1(const json& value, const std::string& location) {
  const auto memory = parse_memory_v1(value, location);
  return {memory.total, memory.free, memory.used};
}

Attributes parse_attributes(const json& value, const std::string& location) {
  Object object(value, location);
  Attributes out{};
  out.multiprocessors = read_unsigned_or(object, "multiprocessors", 0);
  out.copy_engines = read_unsigned_or(object, "copy_engines", 0);
  out.decoders = read_unsigned_or(object, "decoders", 0);
  out.encoders = read_unsigned_or(object, "encoders", 0);
  out.jpegs = read_unsigned_or(object, "jpegs", 0);
  out.ofas = read_unsigned_or(object, "ofas", 0);
  out.gpu_slices = read_unsigned_or(object, "gpu_slices", 0);
  out.compute_slices = read_unsigned_or(object, "compute_slices", 0);
  out.memory_mib = read_number_or(object, "memory_mib", 0);
  object.finish();
  return out;
}

unsigned parse_addressing(const json& value, const std::string& location) {
  const auto text = parse_text(value, location);
  if (text == "none") return 0;
  if (text == "hmm") return 1;
  if (text == "ats") return 2;
  refuse(location, "not none, hmm or ats");
}

void read_capability(Object& object, Device& out) {
  const json* value = object.find("compute_capability");
  if (!value) return;
  const auto location = object.locate("compute_capability");
  if (const auto code = parse_error(*value, location)) {
    out.compute_major.result = *code;
    return;
  }
  if (!value->is_array() || value->size() != 2) refuse(location, "not [major, minor]");
  out.compute_major = Answer<int>((*value)[0].get<int>());
  out.compute_minor = Answer<int>((*value)[1].get<int>());
}

}  // namespace

void read_identity(Object& object, Device& out) {
  char uuid[64];
  std::snprintf(uuid, sizeof uuid, "GPU-00000000-0000-0000-0000-%012u", out.index);
  if (!out.parent) {
    out.name = Answer<std::string>("NVIDIA Fake GPU");
    out.uuid = Answer<std::string>(uuid);
    out.pci = Answer<PciInfo>(default_pci(out.index));
    out.minor = Answer<unsigned>(out.index);
  }
  read_answer(object, "name", out.name);
  read_answer(object, "uuid", out.uuid);
  read_answer(object, "serial", out.serial);
  read_answer(object, "vbios", out.vbios);
  read_answer(object, "pci", out.pci, parse_pci);
  read_answer(object, "minor", out.minor);
  read_answer(object, "brand", out.brand);
  read_answer(object, "architecture", out.architecture);
  read_answer(object, "persistence", out.persistence);
  read_answer(object, "virtualization", out.virtualization);
  read_capability(object, out);
}

void read_memory(Object& object, Device& out) {
  read_answer(object, "memory", out.memory, parse_memory_v1);
  read_answer(object, "memory_v2", out.memory_v2, parse_memory_v2);
  read_answer(object, "bar1", out.bar1, parse_bar1);
  read_answer(object, "attributes", out.attribute, parse_attributes);
  read_answer(object, "numa_node", out.numa_node);
  read_answer(object, "c2c", out.c2c, [](const json& value, const std::string& location) {
    return parse_bool(value, location) ? 1U : 0U;
  });
  read_answer(object, "addressing_mode", out.addressing, parse_addressing);
}

void read_results(Object& object, Device& out) {
  const json* value = object.find("results");
  if (!value) return;
  Object results(*value, object.locate("results"));
  for (const auto& [pattern, code] : value->items()) {
    results.find(pattern);
    const auto result = parse_status(code, results.locate(pattern));
    for (const auto function : parse_calls(pattern, results.locate(pattern)))
      out.results.emplace_back(function, result);
  }
}

void read_mig(Object& object, Device& out) {
  const json* value = object.find("mig");
  if (!value) return;
  Object mig(*value, object.locate("mig"));
  const auto current = read_unsigned_or(mig, "mode", 1);
  out.mig_mode = Answer<EccMode>({current, read_unsigned_or(mig, "pending", current)});
  out.mig_max = read_unsigned_or(mig, "max", current ? 7 : 0);
  const bool inherits_gpu = read_bool_or(mig, "as_gpu", false);
  const json* list = mig.find("instances");
  for (std::size_t i = 0; list && i < list->size(); ++i) {
    auto child = std::make_unique<Device>();
    child->parent = &out;
    child->index = out.index;
    if (inherits_gpu) {
      read_memory(object, *child);
      read_telemetry(object, *child);
      read_processes(object, *child);
    }
    Object fields((*list)[i], mig.locate("instances[" + std::to_string(i) + "]"));
    child->slot = read_unsigned_or(fields, "slot", static_cast<unsigned>(i));
    child->gpu_instance = read_unsigned_or(fields, "gi", child->slot + 1);
    child->compute_instance = read_unsigned_or(fields, "ci", 0);
    read_identity(fields, *child);
    read_memory(fields, *child);
    read_telemetry(fields, *child);
    read_processes(fields, *child);
    read_results(fields, *child);
    fields.finish();
    out.instances.push_back(std::move(child));
  }
  mig.finish();
}

}  // namespace fake_nvml
