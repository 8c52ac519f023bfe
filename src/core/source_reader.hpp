// SPDX-License-Identifier: MIT OR Apache-2.0
#pragma once

#include <memory>
#include <mutex>

#include "backends/registry.hpp"
#include "core/lane.hpp"
#include "core/timed_lock.hpp"
#include "model/function_ref.hpp"

namespace hmn {

// What one source has said, and the way to ask it again. Safe for any number of threads.
class source_reader {
 public:
  source_reader(listed_source listed, const settings& s, const limits& l);

  [[nodiscard]] source id() const noexcept { return lane_.id(); }
  [[nodiscard]] bool stands_in() const noexcept { return stands_in_; }

  // Asks the source, or takes what is young enough, then calls at(reply, fresh_since): parts tried
  // at or after fresh_since are of this reading. A failure means that the source could not be asked;
  // `at` was then called with what was known before (fresh_since is UINT64_MAX).
  using look = function_ref<void(const reply& known, std::uint64_t fresh_since)>;
  result<void> run(const plan& p, budget& b, look at);

  void abandon() noexcept { lane_.abandon(); }

 private:
  void show(look at, std::uint64_t fresh_since);
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
