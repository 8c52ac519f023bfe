// SPDX-License-Identifier: MIT OR Apache-2.0
#pragma once

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
  [[nodiscard]] bool answers_for(source which) const noexcept { return lane_.answers_for(which); }
  [[nodiscard]] bool can_block() const noexcept { return lane_.can_block(); }
  // Bit n: not asked where source n has served.
  [[nodiscard]] std::uint64_t stands_in_for() const noexcept { return stands_in_for_; }

  // Asks the source, or takes what is young enough, then shows what is known: parts tried at or
  // after the moment are of this reading. When the reading is late it has what was reached, and
  // earlier answers.
  using look = function_ref<void(const reply& known, const moment& m)>;
  result<void> run(const plan& p, budget& b, look at);

  void abandon() noexcept { lane_.abandon(); }

 private:
  void show(look at, const moment& m);
  // Never 0, which stands for what was never read.
  [[nodiscard]] std::uint64_t young_since(std::uint64_t now) const noexcept {
    return now > limits_.max_age_ns ? now - limits_.max_age_ns : 1;
  }
  [[nodiscard]] bool is_young_enough(const plan& p, std::uint64_t now);
  [[nodiscard]] bool must_probe();
  // Whether it is here to be asked; that it is not is believed for a while.
  [[nodiscard]] bool is_here(std::uint64_t now);
  [[nodiscard]] bool is_opening() const noexcept { return lane_.is_opening(); }
  [[nodiscard]] result<void> ask(const plan& p, budget& b, std::uint64_t now);
  [[nodiscard]] result<void> outcome_of_last();
  [[nodiscard]] failure too_late() const;
  [[nodiscard]] failure still_opening() const;

  limits limits_;
  std::uint64_t stands_in_for_;
  timed_lock turn_;
  lane lane_;
  std::uint64_t absent_since_ns_ = 0;  // when it was looked for in vain; 0: it was not
};

}  // namespace hmn
