// SPDX-License-Identifier: MIT OR Apache-2.0
#include "core/snapshot.hpp"

#include <algorithm>

#include "model/message_text.hpp"
#include "model/record.hpp"

namespace hmn {

SnapshotDevice* Snapshot::device_by_index(std::uint32_t index) noexcept {
  const auto at =
      std::partition_point(devices.begin(), devices.end(),
                           [index](const SnapshotDevice& d) { return d.identity->index < index; });
  return at != devices.end() && at->identity->index == index ? &*at : nullptr;
}

Failure Snapshot::no_device(std::uint32_t index) noexcept {
  return failed(Status::no_device, {"the snapshot has no device ", index});
}

const Pool* Snapshot::find_pool(std::uint32_t index, PoolKind kind,
                                std::uint32_t instance) const noexcept {
  return hmn::find_pool(of_device(pools, index), kind, instance);
}

namespace {

template <class T>
void share_if(bool is_same, SharedValue<T>& before, SharedValue<T>& now) {
  if (is_same) {
    now = before;
  } else {
    before = now;
  }
}

}  // namespace

void SharedParts::share(Snapshot& fresh) {
  devices_.resize(fresh.devices.size());
  for (std::size_t i = 0; i < devices_.size(); ++i) {
    SharedValue<Device>& now = fresh.devices[i].identity;
    share_if(is_same_record(*devices_[i], *now), devices_[i], now);
  }
  share_if(*why_ == *fresh.why, why_, fresh.why);
}

}  // namespace hmn
