// SPDX-License-Identifier: MIT OR Apache-2.0
#pragma once

#include <algorithm>
#include <bit>
#include <cstdint>

#if !defined(__x86_64__) && !defined(__aarch64__)
#include <mutex>
#endif

namespace hmn {

struct AccountValues {
  std::uint64_t allocated = 0;
  std::uint64_t peak = 0;
};

// Maximum of the values passed to raise().
template <class Word>
class PeakWord {
 public:
  void raise(std::uint64_t bytes) {
    std::uint64_t current = value_.load();
    while (current < bytes && !value_.compare_exchange_weak(current, bytes)) {
    }
  }

  // Raises the peak as well, so that a later reading never returns a lower one.
  AccountValues read(std::uint64_t allocated) {
    raise(allocated);
    return {allocated, std::max(allocated, value_.load())};
  }

  void clear() { value_.store(0); }

  [[nodiscard]] const Word& value() const { return value_; }

 private:
  Word value_{0};
};

// Allocated bytes and their peak, for threads that must not wait for a lock.
template <class Word>
class Account {
 public:
  void add(std::uint64_t bytes) { peak_.raise(allocated_.fetch_add(bytes) + bytes); }

  // Returns false for more than is allocated.
  bool subtract(std::uint64_t bytes) {
    std::uint64_t current = allocated_.load();
    do {
      if (current < bytes) return false;
    } while (!allocated_.compare_exchange_weak(current, current - bytes));
    return true;
  }

  void clear() {
    allocated_.store(0);
    peak_.clear();
    peak_.raise(allocated_.load());
  }

  AccountValues read() { return peak_.read(allocated_.load()); }

 private:
  Word allocated_{0};
  PeakWord<Word> peak_;
};

struct WordPair {
  std::uint64_t first = 0;
  std::uint64_t second = 0;

  friend constexpr bool operator==(const WordPair&, const WordPair&) = default;
};

#if defined(__x86_64__) || defined(__aarch64__)

// Pair of words that are exchanged as one, without a lock. Compilers call libatomic for this: gcc
// always, clang unless compiled for cmpxchg16b, which every x86-64 has had since 2006. Only arm64
// is inlined, through __sync.
class DoubleWord {
 public:
  explicit DoubleWord(WordPair value) noexcept : halves_{value.first, value.second} {}
  DoubleWord(const DoubleWord&) = delete;
  DoubleWord& operator=(const DoubleWord&) = delete;

  // Loads each word atomically, but not the pair.
  [[nodiscard]] WordPair guess() const noexcept {
    return {__atomic_load_n(&halves_[0], __ATOMIC_SEQ_CST),
            __atomic_load_n(&halves_[1], __ATOMIC_SEQ_CST)};
  }

  // Returns false on a mismatch and stores the current words in `expected`. Sequentially
  // consistent.
  bool compare_exchange(WordPair& expected, WordPair desired) noexcept {
#ifdef __x86_64__
    bool same = false;
    asm volatile("lock cmpxchg16b %[at]"
                 : "=@ccz"(same), [at] "+m"(halves_), "+a"(expected.first), "+d"(expected.second)
                 : "b"(desired.first), "c"(desired.second)
                 : "memory");
    return same;
#else
    const auto expected_value = std::bit_cast<Uint128>(expected);
    const Uint128 actual_value = __sync_val_compare_and_swap(
        reinterpret_cast<Uint128*>(halves_), expected_value, std::bit_cast<Uint128>(desired));
    expected = std::bit_cast<WordPair>(actual_value);
    return actual_value == expected_value;
#endif
  }

 private:
  __extension__ typedef unsigned __int128 Uint128 __attribute__((may_alias));

  alignas(16) std::uint64_t halves_[2];
};

#else

// The same under a lock, where no instruction exchanges 16 bytes.
class DoubleWord {
 public:
  explicit DoubleWord(WordPair value) noexcept : value_(value) {}

  [[nodiscard]] WordPair guess() const noexcept {
    const std::scoped_lock lock(mutex_);
    return value_;
  }
  bool compare_exchange(WordPair& expected, WordPair desired) noexcept {
    const std::scoped_lock lock(mutex_);
    if (value_ == expected) {
      value_ = desired;
      return true;
    }
    expected = value_;
    return false;
  }

 private:
  mutable std::mutex mutex_;
  WordPair value_;
};

#endif

inline constexpr std::uint64_t unlimited = UINT64_MAX;

struct LimitedValues {
  std::uint64_t limit = unlimited;
  AccountValues bytes;
};

// Account with a limit. Allocated bytes and limit change as one, so that allocated <= limit is
// decided and true at one instant. With the limit in a word of its own, an allocation that has read
// the old limit would be counted after set_limit() has found that what is allocated fits the new
// one. `Pair` is DoubleWord and `Word` as above, or stepped replacements in tests.
template <class Pair, class Word>
class LimitedAccount {
 public:
  explicit LimitedAccount(std::uint64_t limit) : pair_(WordPair{0, limit}) {}

  // Returns false if the limit would be exceeded.
  bool allocate(std::uint64_t bytes) {
    WordPair current;
    const bool fits = change(current, [bytes](WordPair& words) {
      if (bytes > words.second - words.first) return false;
      words.first += bytes;
      return true;
    });
    if (fits) peak_.raise(current.first);
    return fits;
  }

  // Returns false for more than is allocated.
  bool release(std::uint64_t bytes) {
    WordPair current;
    return change(current, [bytes](WordPair& words) {
      if (bytes > words.first) return false;
      words.first -= bytes;
      return true;
    });
  }

  // Returns false if more than that is allocated.
  bool set_limit(std::uint64_t limit) {
    WordPair current;
    return change(current, [limit](WordPair& words) {
      if (words.first > limit) return false;
      words.second = limit;
      return true;
    });
  }

  void clear() {
    WordPair current;
    change(current, [](WordPair& words) {
      words.first = 0;
      return true;
    });
    peak_.clear();
    peak_.raise(load().first);
  }

  LimitedValues read() {
    const WordPair current = load();
    return {current.second, peak_.read(current.first)};
  }

  [[nodiscard]] const Pair& pair() const { return pair_; }
  [[nodiscard]] const Word& peak() const { return peak_.value(); }

 private:
  // Stores the resulting pair in `current`. A refusal by `update` has to hold for both words at one
  // instant, which only a compare-exchange confirms.
  template <class Update>
  bool change(WordPair& current, Update update) {
    WordPair expected = pair_.guess();
    for (;;) {
      current = expected;
      const bool is_allowed = update(current);
      if (pair_.compare_exchange(expected, current)) return is_allowed;
    }
  }

  WordPair load() {
    WordPair current;
    change(current, [](WordPair&) { return true; });
    return current;
  }

  Pair pair_;  // allocated, and the limit
  PeakWord<Word> peak_;
};

}  // namespace hmn
