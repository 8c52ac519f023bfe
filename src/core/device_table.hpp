// SPDX-License-Identifier: MIT OR Apache-2.0
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string_view>
#include <vector>

#include "core/answer.hpp"
#include "core/snapshot.hpp"
#include "model/failure.hpp"
#include "model/pci_address.hpp"

namespace hmn {

// Parsed key of hmn_device_find.
struct DeviceKey {
  enum class Kind { uuid, pci, luid, render, driver };
  Kind what = Kind::uuid;
  std::string_view uuid;
  PciAddress pci;
  std::uint32_t vendor = 0;  // driver: whose numbering it is
  std::uint64_t number = 0;  // luid, render, driver
};

Result<DeviceKey> parse_device_key(std::string_view text);

// Returns whether two sources list the same device.
bool is_same(const Device& a, const Device& b);

// Device numbering of a context: an index belongs to one device permanently. NVIDIA devices come
// first in their driver's order, then others by PCI address, then partitions; later arrivals are
// appended.
class DeviceTable {
 public:
  [[nodiscard]] std::uint32_t count() const noexcept {
    return static_cast<std::uint32_t>(entries_.size());
  }
  [[nodiscard]] const Device& at(std::uint32_t index) const { return entries_[index].view; }

  // Counts changes of which devices are present, as of the previous call; 0: no device yet.
  std::uint64_t generation() noexcept;

  // Merges the current device list of a source. Known devices are refreshed and new ones numbered;
  // devices missing from the list are lost unless another source still lists them.
  void update(Source from, std::span<const Device* const> listed);
  // Sets the state of a source's devices, for instance after a failed query.
  void set_state(Source from, hmn::State s);
  void set_state(std::uint32_t index, hmn::State s);

  // Subject bits of the device that nvidia-smi has shown not to have either.
  [[nodiscard]] std::uint32_t& unobtainable(std::uint32_t index) {
    return entries_[index].unobtainable;
  }

  [[nodiscard]] std::optional<Slot> slot_of(std::uint32_t index, Source from) const;
  [[nodiscard]] std::optional<std::uint32_t> index_of(Source from, Slot number) const;
  // Returns whether the source has ever listed a device.
  [[nodiscard]] bool has_of(Source from) const;
  [[nodiscard]] std::optional<std::uint32_t> find(const DeviceKey& key) const;
  // Returns a device that may have the key, since its driver has reported none of that kind.
  [[nodiscard]] const Device* find_possible(const DeviceKey& key) const;

 private:
  struct reference {
    Source from;
    bool listed;
    Device seen;  // as that source last listed it
  };
  struct Entry {
    Device view;
    std::vector<reference> seen_by;  // the best source first
    std::optional<bool> was_present;
    std::uint32_t unobtainable = 0;
  };

  // Returns the device that the source calls `number`; nullptr: none.
  [[nodiscard]] const Entry* seen_as(Source from, Slot number) const;
  [[nodiscard]] Entry* match(Source from, const Device& d);
  [[nodiscard]] Entry* match_by_ids(Source from, const Device& d,
                                    std::span<const Device* const> listed);
  void refresh(Entry& e, Source from, const Device& d);
  static void settle(Entry& e);
  [[nodiscard]] static bool is_seen_by(const Entry& e, Source from);
  [[nodiscard]] static bool is_free_for(const Entry& e, Source from);
  void link_parents(Source from, std::span<const Device* const> listed);
  // Notes which devices have partitions that are devices of their own.
  void note_divided();

  std::vector<Entry> entries_;
  std::uint64_t generation_ = 0;
};

}  // namespace hmn
