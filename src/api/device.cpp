// SPDX-License-Identifier: MIT OR Apache-2.0
#include <hypomnesis.h>

#include "api/convert.hpp"
#include "api/guard.hpp"

namespace hmn::api {

hmn_device to_c(const numbered_device& numbered) {
  const device& d = numbered.value;
  hmn_device out{};
  out.notes = d.notes;
  out.backend = static_cast<std::uint32_t>(d.from);
  out.index = numbered.index;
  out.kind = static_cast<std::uint32_t>(d.kind);
  out.state = static_cast<std::uint32_t>(d.state);
  out.vendor = d.vendor;
  out.memory_kind = static_cast<std::uint32_t>(d.memory_kind);
  hmn_flags& has = out.present;
  give(has, HMN_DEVICE_HAS_PARENT, out.parent_index, numbered.parent_index);
  give(has, HMN_DEVICE_HAS_DRIVER_INDEX, out.driver_index, d.driver_index);
  give(has, HMN_DEVICE_HAS_PCI_DEVICE, out.pci_device, d.pci_device);
  give(has, HMN_DEVICE_HAS_PCI_SUBSYSTEM, out.pci_subsystem, d.pci_subsystem);
  give(has, HMN_DEVICE_HAS_RENDER_MINOR, out.render_minor, d.render_minor);
  give(has, HMN_DEVICE_HAS_NUMA_NODE, out.numa_node, d.numa_node);
  give(has, HMN_DEVICE_HAS_CUDA_VERSION, out.cuda_version, d.cuda_version);
  give(has, HMN_DEVICE_HAS_OS_ID, out.os_id, d.os_id);
  if (d.instance) {
    has |= HMN_DEVICE_HAS_INSTANCE;
    out.gpu_instance = d.instance->gpu;
    out.compute_instance = d.instance->compute;
  }
  if (!d.name.empty()) has |= HMN_DEVICE_HAS_NAME;
  if (!d.uuid.empty()) has |= HMN_DEVICE_HAS_UUID;
  if (!d.pci_bus_id.empty()) has |= HMN_DEVICE_HAS_PCI;
  if (!d.driver_version.empty()) has |= HMN_DEVICE_HAS_DRIVER;
  copy_text(out.name, d.name, out.notes);
  copy_text(out.uuid, d.uuid, out.notes);
  copy_text(out.pci_bus_id, d.pci_bus_id, out.notes);
  copy_text(out.driver_version, d.driver_version, out.notes);
  return out;
}

}  // namespace hmn::api

using namespace hmn;
using namespace hmn::api;

hmn_status hmn_device_count(hmn_context* handle, uint32_t* out, hmn_error* error) noexcept {
  clear_out(out);
  return with_context(handle, error, [&](context& c) -> result<void> {
    if (out == nullptr) return null_argument("out is NULL");
    const result<std::uint32_t> count = c.device_count();
    if (!count) return count.why();
    *out = *count;
    return {};
  });
}

hmn_status hmn_device_find(hmn_context* handle, const char* key, uint32_t* out,
                           hmn_error* error) noexcept {
  clear_out(out);
  return with_context(handle, error, [&](context& c) -> result<void> {
    if (out == nullptr) return null_argument("out is NULL");
    if (key == nullptr) return null_argument("key is NULL");
    const result<std::uint32_t> index = c.find(key);
    if (!index) return index.why();
    *out = *index;
    return {};
  });
}

hmn_status hmn_device_read(hmn_context* handle, uint32_t device_index, hmn_device* out,
                           hmn_error* error) noexcept {
  return fill_from(handle, out, error, [&](context& c) -> result<hmn_device> {
    const result<numbered_device> d = c.identity(device_index);
    if (!d) return d.why();
    return to_c(*d);
  });
}
