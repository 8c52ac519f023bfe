// SPDX-License-Identifier: MIT OR Apache-2.0
#include "cli/exporter/known_devices.hpp"

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

void known_devices::complete(std::vector<hypomnesis::snapshot_device>& devices) {
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
    if (now.kind != hypomnesis::device_kind::unknown)
      before.kind = now.kind;
    else
      now.kind = before.kind;
  }
}

}  // namespace hmn::cli
