// SPDX-License-Identifier: MIT OR Apache-2.0
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "backends/drm/driver.hpp"
#include "backends/shared/idle/backoff.hpp"

namespace hmn::drm {

// Every card ever seen, each at the index that is its slot.
class CardList {
 public:
  explicit CardList(const Settings& settings);

  // Lists the cards again. Returns errno if there is no such class, or if listing failed: the list
  // then stays as it was.
  int refresh();
  // Updates the cards' runtime power states only.
  void refresh_states();
  // Sets whether a card is skipped in this reading.
  void set_skipped(Slot slot, bool is_skipped) noexcept {
    cards_[slot].is_skipped = is_skipped;
  }

  [[nodiscard]] std::span<const Card> all() const noexcept { return cards_; }
  [[nodiscard]] const Card* at(Slot slot) const noexcept {
    return slot < cards_.size() ? &cards_[slot] : nullptr;
  }
  // Changes with the set of cards and with their device numbers.
  [[nodiscard]] std::uint64_t fingerprint() const noexcept;
  [[nodiscard]] bool has_drivers() const noexcept { return all_drivers() != 0; }
  // Bit of each driver whose cards would be read if there were any.
  [[nodiscard]] std::uint64_t all_drivers() const noexcept;
  // Cards that exist and were not given to this container.
  [[nodiscard]] bool is_hidden(const Card& card) const noexcept {
    return card.is_present && !card.has_node;
  }
  [[nodiscard]] bool is_listed(const Card& card) const noexcept {
    return card.is_present && card.has_node && card.driver != nullptr;
  }

  // Find a card by a descriptor's device number, or by what fdinfo has: an address, the name of a
  // node, at last the driver if only one card has it.
  [[nodiscard]] const Card* find_by_numbers(std::uint64_t major,
                                            std::uint64_t minor) const noexcept;
  [[nodiscard]] const Card* find_by_address(std::string_view pci_address) const noexcept;
  [[nodiscard]] const Card* find_by_node(std::string_view path) const noexcept;
  [[nodiscard]] const Card* find_by_driver(std::string_view name) const noexcept;

  // Path below /dev; empty if the card has no such node or it does not exist.
  [[nodiscard]] std::string node_path(const Card& card, Node::Kind kind) const;

 private:
  void adopt(Card& card);
  [[nodiscard]] bool has_node(const Card& card) const;
  [[nodiscard]] std::string make_path(const Node& node) const;

  std::string sys_root_;
  std::string dev_root_;  // empty: there are no nodes to check
  DriverList drivers_;
  std::vector<Card> cards_;
  std::vector<Card> new_cards_;  // buffer of the next list
};

// Skips idle cards for a while, so that they can suspend: some queries restart the kernel's
// autosuspend delay, and readings at shorter intervals would keep a card awake.
class CardBackoff {
 public:
  explicit CardBackoff(std::uint64_t patience_ns) noexcept : patience_ns_(patience_ns) {}

  // Begins a reading. Returns whether to skip the card in it.
  bool begin(const Card& card, std::uint64_t now_ns);
  // Notes a query that keeps the card awake.
  void note_query(const Card& card) noexcept {
    if (has_state(card)) find_state(card).was_queried = true;
  }
  // Ends the reading. Returns whether to check the card for activity.
  [[nodiscard]] bool is_due(const Card& card, std::uint64_t now_ns) noexcept;
  // Starts the back-off of an idle card.
  void start(const Card& card, std::uint64_t now_ns);

 private:
  struct State {
    idle::Backoff backoff;
    bool was_queried = false;  // in this reading
  };

  // False for a card that appeared in this reading.
  [[nodiscard]] bool has_state(const Card& card) const noexcept {
    return card.slot < states_.size();
  }
  State& find_state(const Card& card) noexcept { return states_[card.slot]; }

  std::uint64_t patience_ns_;
  std::vector<State> states_;  // by slot
};

// Whether the kernel would suspend the card if it were skipped: suspending is allowed, and it
// drives no display.
bool could_sleep(const Card& card);

}  // namespace hmn::drm
