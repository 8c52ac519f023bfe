// SPDX-License-Identifier: MIT OR Apache-2.0
#pragma once

#include <cstdint>

#include "core/account.hpp"
#include "core/double_word.hpp"

namespace hmn {

inline constexpr std::uint64_t unlimited = UINT64_MAX;

struct limited_values {
  std::uint64_t limit = unlimited;
  account_values bytes;
};

// Account with a limit. Allocated bytes and limit change as one, so that allocated <= limit is
// decided and true at one instant. With the limit in a word of its own, an allocation that has read
// the old limit would be counted after set_limit() has found that what is allocated fits the new
// one. `Pair` is double_word and `Word` as above, or stepped replacements in tests.
template <class Pair, class Word>
class limited_account {
 public:
  explicit limited_account(std::uint64_t limit) : now_(two_words{0, limit}) {}

  // Returns false if the limit would be exceeded.
  bool take(std::uint64_t bytes) {
    two_words now;
    const bool fits = change(now, [bytes](two_words& to) {
      if (bytes > to.second - to.first) return false;
      to.first += bytes;
      return true;
    });
    if (fits) peak_.raise(now.first);
    return fits;
  }

  // Returns false for more than is allocated.
  bool give(std::uint64_t bytes) {
    two_words now;
    return change(now, [bytes](two_words& to) {
      if (bytes > to.first) return false;
      to.first -= bytes;
      return true;
    });
  }

  // Returns false if more than that is allocated.
  bool set_limit(std::uint64_t limit) {
    two_words now;
    return change(now, [limit](two_words& to) {
      if (to.first > limit) return false;
      to.second = limit;
      return true;
    });
  }

  void clear() {
    two_words now;
    change(now, [](two_words& to) {
      to.first = 0;
      return true;
    });
    peak_.clear();
    peak_.raise(look().first);
  }

  limited_values read() {
    const two_words now = look();
    return {now.second, peak_.read(now.first)};
  }

  [[nodiscard]] const Pair& now() const { return now_; }
  [[nodiscard]] const Word& peak() const { return peak_.value(); }

 private:
  // Stores the resulting pair in `now`. A refusal by `by` has to hold for both words at one
  // instant, which only a compare-exchange confirms.
  template <class By>
  bool change(two_words& now, By by) {
    two_words expected = now_.guess();
    for (;;) {
      now = expected;
      const bool may = by(now);
      if (now_.compare_exchange(expected, now)) return may;
    }
  }

  two_words look() {
    two_words now;
    change(now, [](two_words&) { return true; });
    return now;
  }

  Pair now_;  // allocated, and the limit
  peak_word<Word> peak_;
};

}  // namespace hmn
