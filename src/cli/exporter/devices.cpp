// SPDX-License-Identifier: MIT OR Apache-2.0
#include "cli/exporter/devices.hpp"

#include <fmt/format.h>

#include "cli/text/words.hpp"

namespace hmn::cli {
namespace {

template <class T>
void exchange(std::optional<T>& now, std::optional<T>& before) {
  if (now)
    before = now;
  else
    now = before;
}

}  // namespace

DeviceIds::DeviceIds(const std::vector<hypomnesis::snapshot_device>& all) {
  std::unordered_map<std::string, int> uses;
  for (const auto& each : all)
    for (const auto* text : {&each.device.uuid, &each.device.pci_bus_id})
      if (*text) ++uses[**text];
  for (const auto& each : all)
    for (const auto* text : {&each.device.uuid, &each.device.pci_bus_id})
      if (*text && uses[**text] == 1) ids_.try_emplace(each.device.index, **text);
}

std::string DeviceIds::of(std::uint32_t index) const {
  const auto found = ids_.find(index);
  return found == ids_.end() ? fmt::format("gpu{}", index) : found->second;
}

DeviceLabels::DeviceLabels(const hypomnesis::device& of, const DeviceIds& ids)
    : id_(ids.of(of.index)) {
  brief_.add("hw_id", id_).add("hw_name", of.name.value_or(""));
  whole_.add("hw_id", id_)
      .add("hw_type", "gpu")
      .add("hw_name", of.name.value_or(""))
      .add("hw_parent", of.parent_index ? ids.of(*of.parent_index) : std::string())
      .add("hw_vendor", vendor_name(of.vendor).value_or(std::string_view()));
}

LabelSet DeviceLabels::part(std::string_view type, std::string_view name) const {
  LabelSet of_part;
  of_part
      .add("hw_id", name.empty() ? fmt::format("{}/{}", id_, type)
                                 : fmt::format("{}/{}/{}", id_, type, name))
      .add("hw_type", type)
      .add("hw_name", name.empty() ? type : name)
      .add("hw_parent", id_);
  return of_part;
}

void KnownDevices::complete(std::vector<hypomnesis::snapshot_device>& devices) {
  for (auto& each : devices) {
    auto& now = each.device;
    auto& before = known_.try_emplace(now.index, now).first->second;
    exchange(now.uuid, before.uuid);
    exchange(now.pci_bus_id, before.pci_bus_id);
    exchange(now.name, before.name);
    exchange(now.driver_version, before.driver_version);
    exchange(now.architecture, before.architecture);
    exchange(now.driver_index, before.driver_index);
    exchange(now.gpu_instance, before.gpu_instance);
    exchange(now.compute_instance, before.compute_instance);
    if (now.form != hypomnesis::device_form::unknown)
      before.form = now.form;
    else
      now.form = before.form;
  }
}

}  // namespace hmn::cli
