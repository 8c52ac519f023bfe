// SPDX-License-Identifier: MIT OR Apache-2.0
//
// Which cards are left alone for a while, so that they can suspend: asking for some of what a
// driver tells restarts the kernel's autosuspend delay, and readings that follow each other faster
// than that would keep a card awake that has nothing to do.
#pragma once

#include <cstdint>
#include <vector>

#include "backends/drm/driver.hpp"
#include "backends/idle/backoff.hpp"

namespace hmn::drm {

class card_backoff {
 public:
  explicit card_backoff(std::uint64_t patience_ns) noexcept : patience_ns_(patience_ns) {}

  // A reading begins: whether the card is left alone in it.
  bool begin(const card& c, std::uint64_t now_ns);
  // It was asked for something that keeps it awake.
  void asked(const card& c) noexcept {
    if (knows(c)) of(c).was_asked = true;
  }
  // The reading has come to its end: whether to look if the card has something to do.
  [[nodiscard]] bool is_due(const card& c, std::uint64_t now_ns) noexcept;
  // It has not.
  void start(const card& c, std::uint64_t now_ns);

 private:
  struct state {
    idle::backoff backoff;
    bool was_asked = false;  // in this reading
  };

  // Not yet, where it came within this reading.
  [[nodiscard]] bool knows(const card& c) const noexcept { return c.number < states_.size(); }
  state& of(const card& c) noexcept { return states_[c.number]; }

  std::uint64_t patience_ns_;
  std::vector<state> states_;  // by slot
};

// Whether the kernel would suspend the card if it were left alone: it may, and drives no display.
bool could_sleep(const card& c);

}  // namespace hmn::drm
