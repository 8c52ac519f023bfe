// SPDX-License-Identifier: MIT OR Apache-2.0
#pragma once

#include <cstdint>

#include "core/account.hpp"

namespace hmn {

inline constexpr std::uint64_t unlimited = UINT64_MAX;

struct limited_figures {
  std::uint64_t limit = unlimited;
  account_figures bytes;
};

// An account with a limit. What is free is a word of its own, and taking from it the one decision:
// what is allocated is counted after it is taken and before it is free again, the limit rises
// before what is free and sinks after it. So allocated + free <= limit at every instant, and all
// steps are differences, to which it does not matter who came between.
template <class Word>
class limited_account {
 public:
  explicit limited_account(std::uint64_t limit) : free_(limit), limit_(limit) {}

  // False: they would exceed the limit.
  bool take(std::uint64_t bytes) {
    if (!take_free(bytes)) return false;
    used_.add(bytes);
    return true;
  }

  // False: more than is allocated.
  bool give(std::uint64_t bytes) {
    if (!used_.subtract(bytes)) return false;
    free_.fetch_add(bytes);
    return true;
  }

  [[nodiscard]] bool fits(std::uint64_t bytes) const { return free_.load() >= bytes; }

  // False: more than that is allocated.
  bool set_limit(std::uint64_t to) {
    std::uint64_t now = limit_.load();
    for (;;) {
      const std::uint64_t less = now > to ? now - to : 0;
      if (less != 0 && !take_free(less)) return false;
      if (limit_.compare_exchange_strong(now, to)) {
        if (to > now) free_.fetch_add(to - now);
        return true;
      }
      free_.fetch_add(less);
    }
  }

  void clear() { free_.fetch_add(used_.clear()); }

  // Figures of which none contradicts another.
  limited_figures read() {
    for (;;) {
      const account_figures bytes = used_.read();
      const std::uint64_t limit = limit_.load();
      if (bytes.allocated <= limit) return {limit, bytes};
    }
  }

  [[nodiscard]] const Word& free() const { return free_; }
  [[nodiscard]] const Word& limit() const { return limit_; }
  [[nodiscard]] const account<Word>& used() const { return used_; }

 private:
  bool take_free(std::uint64_t bytes) {
    std::uint64_t now = free_.load();
    do {
      if (now < bytes) return false;
    } while (!free_.compare_exchange_weak(now, now - bytes));
    return true;
  }

  Word free_;
  account<Word> used_;
  Word limit_;
};

}  // namespace hmn
