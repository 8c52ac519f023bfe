// SPDX-License-Identifier: MIT OR Apache-2.0
#include "cli/exporter/devices.hpp"

#include <fmt/format.h>

#include "cli/text/words.hpp"

namespace hmn::cli {
namespace {

template <class T>
void update_or_restore(std::optional<T>& now, std::optional<T>& before) {
  if (now)
    before = now;
  else
    now = before;
}

}  // namespace

DeviceIds::DeviceIds(const std::vector<hypomnesis::snapshot_device>& gpus) {
  std::unordered_map<std::string, int> uses;
  for (const auto& gpu : gpus)
    for (const auto* text : {&gpu.device.uuid, &gpu.device.pci_bus_id})
      if (*text) ++uses[**text];
  for (const auto& gpu : gpus)
    for (const auto* text : {&gpu.device.uuid, &gpu.device.pci_bus_id})
      if (*text && uses[**text] == 1) ids_.try_emplace(gpu.device.index, **text);
}

std::string DeviceIds::get(std::uint32_t index) const {
  const auto it = ids_.find(index);
  return it == ids_.end() ? fmt::format("gpu{}", index) : it->second;
}

DeviceLabels::DeviceLabels(const hypomnesis::device& device, const DeviceIds& ids)
    : id_(ids.get(device.index)) {
  short_labels_.add("hw_id", id_).add("hw_name", device.name.value_or(""));
  full_labels_.add("hw_id", id_)
      .add("hw_type", "gpu")
      .add("hw_name", device.name.value_or(""))
      .add("hw_parent", device.parent_index ? ids.get(*device.parent_index) : std::string())
      .add("hw_vendor", vendor_name(device.vendor).value_or(std::string_view()));
}

LabelSet DeviceLabels::component(std::string_view type, std::string_view name) const {
  LabelSet labels;
  labels
      .add("hw_id", name.empty() ? fmt::format("{}/{}", id_, type)
                                 : fmt::format("{}/{}/{}", id_, type, name))
      .add("hw_type", type)
      .add("hw_name", name.empty() ? type : name)
      .add("hw_parent", id_);
  return labels;
}

void KnownDevices::complete(std::vector<hypomnesis::snapshot_device>& devices) {
  for (auto& gpu : devices) {
    auto& now = gpu.device;
    auto& before = identities_.try_emplace(now.index, now).first->second;
    update_or_restore(now.uuid, before.uuid);
    update_or_restore(now.pci_bus_id, before.pci_bus_id);
    update_or_restore(now.name, before.name);
    update_or_restore(now.driver_version, before.driver_version);
    update_or_restore(now.architecture, before.architecture);
    update_or_restore(now.driver_index, before.driver_index);
    update_or_restore(now.gpu_instance, before.gpu_instance);
    update_or_restore(now.compute_instance, before.compute_instance);
    if (now.form != hypomnesis::device_form::unknown)
      before.form = now.form;
    else
      now.form = before.form;
  }
}

}  // namespace hmn::cli
