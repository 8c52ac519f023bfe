// SPDX-License-Identifier: MIT OR Apache-2.0
//
// Counts that any number of threads change at once. `Word` is std::atomic<std::uint64_t>, or what a
// test steps through; each access is sequentially consistent, so that what holds in every order of
// the accesses holds on every machine.
#pragma once

#include <algorithm>
#include <cstdint>

namespace hmn {

struct account_figures {
  std::uint64_t allocated = 0;
  std::uint64_t peak = 0;
};

// The highest that was ever shown to it.
template <class Word>
class peak_word {
 public:
  void raise(std::uint64_t to) {
    std::uint64_t now = value_.load();
    while (now < to && !value_.compare_exchange_weak(now, to)) {
    }
  }

  // Raises it too: what one reading has shown, the next must not take back.
  account_figures read(std::uint64_t allocated) {
    raise(allocated);
    return {allocated, std::max(allocated, value_.load())};
  }

  void clear() { value_.store(0); }

  [[nodiscard]] const Word& value() const { return value_; }

 private:
  Word value_{0};
};

// What is allocated, and the most that ever was.
template <class Word>
class account {
 public:
  void add(std::uint64_t bytes) { peak_.raise(allocated_.fetch_add(bytes) + bytes); }

  // False: more than is allocated.
  bool subtract(std::uint64_t bytes) {
    std::uint64_t now = allocated_.load();
    do {
      if (now < bytes) return false;
    } while (!allocated_.compare_exchange_weak(now, now - bytes));
    return true;
  }

  void clear() {
    allocated_.store(0);
    peak_.clear();
    peak_.raise(allocated_.load());
  }

  account_figures read() { return peak_.read(allocated_.load()); }

 private:
  Word allocated_{0};
  peak_word<Word> peak_;
};

}  // namespace hmn
