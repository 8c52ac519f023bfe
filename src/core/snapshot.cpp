// SPDX-License-Identifier: MIT OR Apache-2.0
#include "core/snapshot.hpp"

#include <algorithm>

#include "model/message_text.hpp"
#include "model/record.hpp"

namespace hmn {

snapshot_device* snapshot::device_by_index(std::uint32_t index) noexcept {
  const auto at =
      std::partition_point(devices.begin(), devices.end(),
                           [index](const snapshot_device& d) { return d.identity->index < index; });
  return at != devices.end() && at->identity->index == index ? &*at : nullptr;
}

failure snapshot::no_device(std::uint32_t index) noexcept {
  return failed(status::no_device, {"the snapshot has no device ", index});
}

const pool* snapshot::find_pool(std::uint32_t index, pool_kind kind,
                                std::uint32_t instance) const noexcept {
  return hmn::find_pool(of_device(pools, index), kind, instance);
}

namespace {

template <class T>
void share_if(bool is_same, shared_value<T>& before, shared_value<T>& now) {
  if (is_same) {
    now = before;
  } else {
    before = now;
  }
}

}  // namespace

void shared_parts::share(snapshot& fresh) {
  devices_.resize(fresh.devices.size());
  for (std::size_t i = 0; i < devices_.size(); ++i) {
    shared_value<device>& now = fresh.devices[i].identity;
    share_if(is_same_record(*devices_[i], *now), devices_[i], now);
  }
  share_if(*why_ == *fresh.why, why_, fresh.why);
}

}  // namespace hmn
