// SPDX-License-Identifier: MIT OR Apache-2.0
//
// What control groups hold of a snapshot's devices.
#include <utility>

#include "core/snapshot_builder.hpp"

namespace hmn {

// Of a card and its partitions the card.
void snapshot_builder::add_groups() {
  if (out_->devices.empty()) return;
  group_memory all;
  result<void> told = from_.host_->groups(all);
  if (!told) {
    const auto about = static_cast<std::uint32_t>(metric_id::group_vram_bytes);
    add_diagnostic({std::move(told.why()), 0, subject::metrics, about, {}, {}, {}}, {});
  }
  out_->groups = std::move(all.names);
  for (const group_memory::part& p : all.parts) {
    for (const snapshot_device& d : out_->devices) {
      const device& card = d.identity.value;
      if (d.identity.parent_index || card.state == state::lost) continue;
      if (parse_pci_address(card.pci_bus_id.view()) != p.device) continue;
      const auto add = [&](metric_id id, std::uint64_t bytes) {
        out_->metrics.push_back(
            {d.identity.index, {counted(source::dmem, id, p.group + 1, bytes), 0}});
      };
      add(metric_id::group_vram_bytes, p.used);
      if (p.limit) add(metric_id::group_vram_limit_bytes, *p.limit);
    }
  }
}

}  // namespace hmn
