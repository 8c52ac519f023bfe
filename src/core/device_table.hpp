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
  Kind kind = Kind::uuid;
  std::string_view uuid;
  PciAddress pci;
  std::uint32_t vendor = 0;  // driver: the vendor that numbers it
  std::uint64_t number = 0;  // luid, render, driver
};

Result<DeviceKey> parse_device_key(std::string_view text);

// Returns whether two sources list the same device.
bool is_same(const Device& left, const Device& right);

// Device numbering of a context: an index belongs to one device permanently. NVIDIA devices come
// first in their driver's order, then others by PCI address, then partitions; later arrivals are
// appended.
class DeviceTable {
 public:
  [[nodiscard]] std::uint32_t count() const noexcept {
    return static_cast<std::uint32_t>(entries_.size());
  }
  [[nodiscard]] const Device& at(std::uint32_t index) const { return entries_[index].identity; }

  // Counts changes of the set of present devices, compared with the previous call; 0: no device
  // yet.
  std::uint64_t generation() noexcept;

  // Merges the current device list of a source. Known devices are refreshed and new ones numbered;
  // devices missing from the list are lost unless another source still lists them.
  void update(Source source, std::span<const Device* const> devices);
  // Sets the state of a source's devices, for instance after a failed query.
  void set_state(Source source, hmn::State state);
  void set_state(std::uint32_t index, hmn::State state);

  // Subject bits of the device that nvidia-smi cannot read either.
  [[nodiscard]] std::uint32_t& unobtainable(std::uint32_t index) {
    return entries_[index].unobtainable;
  }

  [[nodiscard]] std::optional<Slot> find_slot(std::uint32_t index, Source source) const;
  [[nodiscard]] std::optional<std::uint32_t> find_index(Source source, Slot slot) const;
  // Returns whether the source has ever listed a device.
  [[nodiscard]] bool has_listed(Source source) const;
  [[nodiscard]] std::optional<std::uint32_t> find(const DeviceKey& key) const;
  // Returns a device that may have the key: its driver has reported no key of that kind.
  [[nodiscard]] const Device* find_possible(const DeviceKey& key) const;

 private:
  struct Reference {
    Source source;
    bool is_listed;
    Device device;  // as that source last listed it
  };
  struct Entry {
    Device identity;
    std::vector<Reference> references;  // the best source first
    std::optional<bool> was_present;
    std::uint32_t unobtainable = 0;
  };

  // Returns the device with that slot of the source; nullptr: none.
  [[nodiscard]] const Entry* find_entry(Source source, Slot slot) const;
  [[nodiscard]] Entry* match(Source source, const Device& device);
  [[nodiscard]] Entry* match_by_ids(Source source, const Device& device,
                                    std::span<const Device* const> devices);
  void refresh(Entry& entry, Source source, const Device& device);
  static void rebuild_identity(Entry& entry);
  [[nodiscard]] static bool has_reference(const Entry& entry, Source source);
  [[nodiscard]] static bool can_claim(const Entry& entry, Source source);
  void link_parents(Source source, std::span<const Device* const> devices);
  // Marks the devices that have partitions, which are devices of their own.
  void mark_divided();

  std::vector<Entry> entries_;
  std::uint64_t generation_ = 0;
};

}  // namespace hmn
