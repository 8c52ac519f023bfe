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

// What is allocated, and the most that ever was.
template <class Word>
class account {
 public:
  void add(std::uint64_t bytes) { raise_peak(allocated_.fetch_add(bytes) + bytes); }

  // False: more than is allocated.
  bool subtract(std::uint64_t bytes) {
    std::uint64_t now = allocated_.load();
    do {
      if (now < bytes) return false;
    } while (!allocated_.compare_exchange_weak(now, now - bytes));
    return true;
  }

  // What was allocated.
  std::uint64_t clear() {
    const std::uint64_t was = allocated_.exchange(0);
    peak_.store(0);
    raise_peak(allocated_.load());
    return was;
  }

  // Raises the peak too: what one reading has shown, the next must not take back.
  account_figures read() {
    const std::uint64_t now = allocated_.load();
    raise_peak(now);
    return {now, std::max(now, peak_.load())};
  }

  [[nodiscard]] const Word& allocated() const { return allocated_; }
  [[nodiscard]] const Word& peak() const { return peak_; }

 private:
  void raise_peak(std::uint64_t to) {
    std::uint64_t now = peak_.load();
    while (now < to && !peak_.compare_exchange_weak(now, to)) {
    }
  }

  Word allocated_{0};
  Word peak_{0};
};

}  // namespace hmn
