// SPDX-License-Identifier: MIT OR Apache-2.0
#pragma once

#include <memory>
#include <mutex>

#include "core/lane.hpp"
#include "backends/registry.hpp"
#include "core/timed_lock.hpp"

namespace hmn {

// What one source has said, and the way to ask it again. Safe for any number of threads.
class source_reader {
 public:
  source_reader(listed_source listed, const settings& s, const limits& l);

  [[nodiscard]] source id() const noexcept { return lane_.id(); }
  [[nodiscard]] bool stands_in() const noexcept { return stands_in_; }

  // Asks the source, or takes what is young enough, then calls look(reply, fresh_since): parts tried
  // at or after fresh_since are of this reading. A failure means that the source could not be asked;
  // look was then called with what was known before (fresh_since is UINT64_MAX).
  template <class Look>
  result<void> run(const plan& p, budget& b, Look&& look) {
    const std::uint64_t begun = platform::monotonic_ns();
    const timed_guard turn(turn_, b.until());
    if (!turn) {
      show(look, UINT64_MAX);
      return is_opening() ? still_opening() : too_late();
    }
    if (is_young_enough(p, begun)) {
      show(look, young_since(begun));
      return outcome_of_last();
    }
    result<void> asked = ask(p, b);
    show(look, asked ? begun : UINT64_MAX);
    return asked ? outcome_of_last() : asked;
  }

  void abandon() noexcept { lane_.abandon(); }

 private:
  template <class Look>
  void show(Look&& look, std::uint64_t fresh_since) {
    const std::lock_guard lock(known_mutex_);
    look(known_, fresh_since);
  }
  // Never 0, which stands for what was never read.
  [[nodiscard]] std::uint64_t young_since(std::uint64_t now) const noexcept {
    return now > limits_.max_age_ns ? now - limits_.max_age_ns : 1;
  }
  [[nodiscard]] bool is_young_enough(const plan& p, std::uint64_t now) const;
  [[nodiscard]] bool is_opening() const noexcept { return lane_.is_opening(); }
  [[nodiscard]] result<void> ask(const plan& p, budget& b);
  [[nodiscard]] result<void> outcome_of_last() const;
  [[nodiscard]] failure too_late() const;
  [[nodiscard]] failure still_opening() const;
  void publish();

  limits limits_;
  bool stands_in_;
  timed_lock turn_;
  mutable std::mutex known_mutex_;
  reply known_;
  bool unpublished_ = false;
  lane lane_;
};

}  // namespace hmn
