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
struct device_key {
  enum class kind { uuid, pci, luid, render, driver };
  kind what = kind::uuid;
  std::string_view uuid;
  pci_address pci;
  std::uint32_t vendor = 0;  // driver: whose numbering it is
  std::uint64_t number = 0;  // luid, render, driver
};

result<device_key> parse_device_key(std::string_view text);

// Returns whether two sources list the same device.
bool is_same(const device& a, const device& b);

// Device numbering of a context: an index belongs to one device permanently. NVIDIA devices come
// first in their driver's order, then others by PCI address, then partitions; later arrivals are
// appended.
class device_table {
 public:
  [[nodiscard]] std::uint32_t count() const noexcept {
    return static_cast<std::uint32_t>(entries_.size());
  }
  [[nodiscard]] const device& at(std::uint32_t index) const { return entries_[index].view; }

  // Counts changes of which devices are present, as of the previous call; 0: no device yet.
  std::uint64_t generation() noexcept;

  // Merges the current device list of a source. Known devices are refreshed and new ones numbered;
  // devices missing from the list are lost unless another source still lists them.
  void update(source from, std::span<const device* const> listed);
  // Sets the state of a source's devices, for instance after a failed query.
  void set_state(source from, hmn::state s);
  void set_state(std::uint32_t index, hmn::state s);

  // Subject bits of the device that nvidia-smi has shown not to have either.
  [[nodiscard]] std::uint32_t& unobtainable(std::uint32_t index) {
    return entries_[index].unobtainable;
  }

  [[nodiscard]] std::optional<slot> slot_of(std::uint32_t index, source from) const;
  [[nodiscard]] std::optional<std::uint32_t> index_of(source from, slot number) const;
  // Returns whether the source has ever listed a device.
  [[nodiscard]] bool has_of(source from) const;
  [[nodiscard]] std::optional<std::uint32_t> find(const device_key& key) const;
  // Returns a device that may have the key, since its driver has reported none of that kind.
  [[nodiscard]] const device* find_possible(const device_key& key) const;

 private:
  struct reference {
    source from;
    bool listed;
    device seen;  // as that source last listed it
  };
  struct entry {
    device view;
    std::vector<reference> seen_by;  // the best source first
    std::optional<bool> was_present;
    std::uint32_t unobtainable = 0;
  };

  // Returns the device that the source calls `number`; nullptr: none.
  [[nodiscard]] const entry* seen_as(source from, slot number) const;
  [[nodiscard]] entry* match(source from, const device& d);
  [[nodiscard]] entry* match_by_ids(source from, const device& d,
                                    std::span<const device* const> listed);
  void refresh(entry& e, source from, const device& d);
  static void settle(entry& e);
  [[nodiscard]] static bool is_seen_by(const entry& e, source from);
  [[nodiscard]] static bool is_free_for(const entry& e, source from);
  void link_parents(source from, std::span<const device* const> listed);
  // Notes which devices have partitions that are devices of their own.
  void note_divided();

  std::vector<entry> entries_;
  std::uint64_t generation_ = 0;
};

}  // namespace hmn
