// SPDX-License-Identifier: MIT OR Apache-2.0
//
// Counters that any number of threads change concurrently. `Word` is std::atomic<std::uint64_t> or
// a stepped replacement in tests. Each access is sequentially consistent, so an invariant proven
// for every order of the accesses holds on every machine.
#pragma once

#include <algorithm>
#include <cstdint>

namespace hmn {

struct account_values {
  std::uint64_t allocated = 0;
  std::uint64_t peak = 0;
};

// Maximum of the values passed to raise().
template <class Word>
class peak_word {
 public:
  void raise(std::uint64_t to) {
    std::uint64_t now = value_.load();
    while (now < to && !value_.compare_exchange_weak(now, to)) {
    }
  }

  // Raises the peak as well, so that a later reading never returns a lower one.
  account_values read(std::uint64_t allocated) {
    raise(allocated);
    return {allocated, std::max(allocated, value_.load())};
  }

  void clear() { value_.store(0); }

  [[nodiscard]] const Word& value() const { return value_; }

 private:
  Word value_{0};
};

// Allocated bytes and their peak.
template <class Word>
class account {
 public:
  void add(std::uint64_t bytes) { peak_.raise(allocated_.fetch_add(bytes) + bytes); }

  // Returns false for more than is allocated.
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

  account_values read() { return peak_.read(allocated_.load()); }

 private:
  Word allocated_{0};
  peak_word<Word> peak_;
};

}  // namespace hmn
