// SPDX-License-Identifier: MIT OR Apache-2.0
//
// Cards that are skipped for a while, so that they can suspend: some queries restart the kernel's
// autosuspend delay, and readings at shorter intervals would keep an idle card awake.
#pragma once

#include <cstdint>
#include <vector>

#include "backends/drm/driver.hpp"
#include "backends/shared/idle/backoff.hpp"

namespace hmn::drm {

class card_backoff {
 public:
  explicit card_backoff(std::uint64_t patience_ns) noexcept : patience_ns_(patience_ns) {}

  // Begins a reading. Returns whether the card is skipped in it.
  bool begin(const card& c, std::uint64_t now_ns);
  // Notes a query that keeps the card awake.
  void asked(const card& c) noexcept {
    if (knows(c)) of(c).was_asked = true;
  }
  // Ends the reading. Returns whether to check the card for activity.
  [[nodiscard]] bool is_due(const card& c, std::uint64_t now_ns) noexcept;
  // Starts the back-off of an idle card.
  void start(const card& c, std::uint64_t now_ns);

 private:
  struct state {
    idle::backoff backoff;
    bool was_asked = false;  // in this reading
  };

  // False for a card that appeared in this reading.
  [[nodiscard]] bool knows(const card& c) const noexcept { return c.number < states_.size(); }
  state& of(const card& c) noexcept { return states_[c.number]; }

  std::uint64_t patience_ns_;
  std::vector<state> states_;  // by slot
};

// Whether the kernel would suspend the card if it were skipped: it may, and drives no display.
bool could_sleep(const card& c);

}  // namespace hmn::drm
