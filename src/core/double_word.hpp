// SPDX-License-Identifier: MIT OR Apache-2.0
#pragma once

#include <bit>
#include <cstdint>

#if !defined(__x86_64__) && !defined(__aarch64__)
#include <mutex>
#endif

namespace hmn {

struct two_words {
  std::uint64_t first = 0;
  std::uint64_t second = 0;

  friend constexpr bool operator==(const two_words&, const two_words&) = default;
};

#if defined(__x86_64__) || defined(__aarch64__)

// Pair of words that are exchanged as one, without a lock. Compilers call libatomic for this: gcc
// always, clang unless compiled for cmpxchg16b, which every x86-64 has had since 2006. Only arm64
// is inlined, through __sync.
class double_word {
 public:
  explicit double_word(two_words value) noexcept : halves_{value.first, value.second} {}
  double_word(const double_word&) = delete;
  double_word& operator=(const double_word&) = delete;

  // Loads each word atomically, but not the pair.
  [[nodiscard]] two_words guess() const noexcept {
    return {__atomic_load_n(&halves_[0], __ATOMIC_SEQ_CST),
            __atomic_load_n(&halves_[1], __ATOMIC_SEQ_CST)};
  }

  // Returns false on a mismatch and stores the current words in `expected`. Sequentially
  // consistent.
  bool compare_exchange(two_words& expected, two_words to) noexcept {
#ifdef __x86_64__
    bool same = false;
    asm volatile("lock cmpxchg16b %[at]"
                 : "=@ccz"(same), [at] "+m"(halves_), "+a"(expected.first), "+d"(expected.second)
                 : "b"(to.first), "c"(to.second)
                 : "memory");
    return same;
#else
    const auto wanted = std::bit_cast<whole>(expected);
    const whole was = __sync_val_compare_and_swap(reinterpret_cast<whole*>(halves_), wanted,
                                                  std::bit_cast<whole>(to));
    expected = std::bit_cast<two_words>(was);
    return was == wanted;
#endif
  }

 private:
  __extension__ typedef unsigned __int128 whole __attribute__((may_alias));

  alignas(16) std::uint64_t halves_[2];
};

#else

// The same under a lock, where no instruction exchanges 16 bytes.
class double_word {
 public:
  explicit double_word(two_words value) noexcept : value_(value) {}

  [[nodiscard]] two_words guess() const noexcept {
    const std::scoped_lock held(lock_);
    return value_;
  }
  bool compare_exchange(two_words& expected, two_words to) noexcept {
    const std::scoped_lock held(lock_);
    if (value_ == expected) {
      value_ = to;
      return true;
    }
    expected = value_;
    return false;
  }

 private:
  mutable std::mutex lock_;
  two_words value_;
};

#endif

}  // namespace hmn
