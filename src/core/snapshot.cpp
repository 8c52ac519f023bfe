// SPDX-License-Identifier: MIT OR Apache-2.0
#include "core/snapshot.hpp"

#include <algorithm>

#include "model/message_text.hpp"
#include "model/record.hpp"

namespace hmn {

SnapshotDevice* Snapshot::find_device(std::uint32_t index) noexcept {
  const auto it =
      std::partition_point(devices.begin(), devices.end(),
                           [index](const SnapshotDevice& d) { return d.identity->index < index; });
  return it != devices.end() && it->identity->index == index ? &*it : nullptr;
}

Failure Snapshot::make_device_failure(std::uint32_t index) noexcept {
  return make_failure(Status::no_device, {"the snapshot has no device ", index});
}

const Pool* Snapshot::find_pool(std::uint32_t index, PoolKind kind,
                                std::uint32_t instance) const noexcept {
  return hmn::find_pool(select_device(pools, index), kind, instance);
}

namespace {

template <class T>
void share_if(bool is_same, SharedValue<T>& shared, SharedValue<T>& value) {
  if (is_same) {
    value = shared;
  } else {
    shared = value;
  }
}

}  // namespace

void SharedParts::share(Snapshot& snapshot) {
  devices_.resize(snapshot.devices.size());
  for (std::size_t i = 0; i < devices_.size(); ++i) {
    SharedValue<Device>& identity = snapshot.devices[i].identity;
    share_if(is_same_record(*devices_[i], *identity), devices_[i], identity);
  }
  share_if(*explanations_ == *snapshot.explanations, explanations_, snapshot.explanations);
}

}  // namespace hmn
