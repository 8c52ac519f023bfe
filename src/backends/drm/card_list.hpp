// SPDX-License-Identifier: MIT OR Apache-2.0
#pragma once

#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "backends/drm/driver.hpp"

namespace hmn::drm {

// Every card ever seen, each at the index that is its slot.
class card_list {
 public:
  explicit card_list(const settings& s);

  // Lists the cards again. Returns errno if there is no class of theirs, or if listing failed: the
  // list then stays as it was.
  int refresh();
  // Reads their runtime power states only.
  void refresh_states();
  // Sets whether a card is skipped in this reading.
  void leave_alone(slot number, bool is_left) noexcept { cards_[number].is_resting = is_left; }

  [[nodiscard]] std::span<const card> all() const noexcept { return cards_; }
  [[nodiscard]] const card* at(slot number) const noexcept {
    return number < cards_.size() ? &cards_[number] : nullptr;
  }
  // Changes with the set of cards and with their device numbers.
  [[nodiscard]] std::uint64_t fingerprint() const noexcept;
  [[nodiscard]] bool has_drivers() const noexcept { return all_drivers() != 0; }
  // Bit of each driver whose cards would be read if there were any.
  [[nodiscard]] std::uint64_t all_drivers() const noexcept;
  // Cards that exist and were not given to this container.
  [[nodiscard]] bool is_hidden(const card& c) const noexcept { return c.is_here && !c.has_node; }
  [[nodiscard]] bool is_listed(const card& c) const noexcept {
    return c.is_here && c.has_node && c.by != nullptr;
  }

  // Finds a card by a descriptor's device number, or by what fdinfo has: an address, the name of a
  // node, at last the driver if only one card has it.
  [[nodiscard]] const card* by_numbers(std::uint64_t major, std::uint64_t minor) const noexcept;
  [[nodiscard]] const card* by_address(std::string_view pci_address) const noexcept;
  [[nodiscard]] const card* by_node(std::string_view path) const noexcept;
  [[nodiscard]] const card* by_driver(std::string_view name) const noexcept;

  // Path below /dev; empty if the card has no such node or it does not exist.
  [[nodiscard]] std::string node_path(const card& c, node::kind what) const;

 private:
  void adopt(card& fresh);
  [[nodiscard]] bool has_node(const card& c) const;
  [[nodiscard]] std::string path_of(const node& n) const;

  std::string sys_root_;
  std::string dev_root_;  // empty: there are no nodes to check
  driver_list drivers_;
  std::vector<card> cards_;
  std::vector<card> found_;  // buffer of the next list
};

}  // namespace hmn::drm
