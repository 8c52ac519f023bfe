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

// The cards that were ever seen, each at the place that is its slot.
class card_list {
 public:
  explicit card_list(const settings& s);

  // Looks for cards again. errno when there is no class of theirs, or when the list
  // could not be had: then it stays as it was.
  int refresh();
  // Their runtime states alone.
  void refresh_states();
  // Whether a card is left alone in this reading.
  void leave_alone(slot number, bool is_left) noexcept { cards_[number].is_resting = is_left; }

  [[nodiscard]] std::span<const card> all() const noexcept { return cards_; }
  [[nodiscard]] const card* at(slot number) const noexcept {
    return number < cards_.size() ? &cards_[number] : nullptr;
  }
  // Another one when there are other cards, or when they have other device numbers.
  [[nodiscard]] std::uint64_t fingerprint() const noexcept;
  [[nodiscard]] bool has_drivers() const noexcept { return !drivers_.empty(); }
  // Whether cards of this driver would be read, were there any.
  [[nodiscard]] bool has_driver(source of) const noexcept;
  // Cards that are here and were not given to this container.
  [[nodiscard]] bool is_hidden(const card& c) const noexcept { return c.is_here && !c.has_node; }
  [[nodiscard]] bool is_listed(const card& c) const noexcept {
    return c.is_here && c.has_node && c.by != nullptr;
  }

  // By a descriptor's device number; by what fdinfo tells: an address, the name of a node, at last
  // the driver where only one card has it.
  [[nodiscard]] const card* by_numbers(std::uint64_t major, std::uint64_t minor) const noexcept;
  [[nodiscard]] const card* by_address(std::string_view pci_address) const noexcept;
  [[nodiscard]] const card* by_node(std::string_view path) const noexcept;
  [[nodiscard]] const card* by_driver(std::string_view name) const noexcept;

  // Below /dev; empty: the card has no such node, or it is not there.
  [[nodiscard]] std::string node_path(const card& c, node::kind what) const;

 private:
  void adopt(card& fresh);
  [[nodiscard]] bool has_node(const card& c) const;
  [[nodiscard]] std::string path_of(const node& n) const;

  std::string sys_root_;
  std::string dev_root_;  // empty: there are no nodes to look at
  std::vector<std::unique_ptr<driver>> drivers_;
  std::vector<card> cards_;
  std::vector<card> found_;  // room for the next list
};

}  // namespace hmn::drm
