// SPDX-License-Identifier: MIT OR Apache-2.0
#include "model/natural.hpp"

#include <algorithm>
#include <bit>

namespace hmn {
namespace {

constexpr unsigned word_bits = 32;

}  // namespace

natural::natural(std::uint32_t n) {
  if (n != 0) words_.push_back(n);
}

std::size_t natural::bits() const noexcept {
  if (words_.empty()) return 0;
  return words_.size() * word_bits - static_cast<std::size_t>(std::countl_zero(words_.back()));
}

bool natural::is_below(const natural& other) const noexcept {
  if (words_.size() != other.words_.size()) return words_.size() < other.words_.size();
  return std::lexicographical_compare(words_.rbegin(), words_.rend(), other.words_.rbegin(),
                                      other.words_.rend());
}

void natural::multiply_add(std::uint32_t factor, std::uint32_t addend) {
  std::uint64_t carried = addend;
  for (std::uint32_t& word : words_) {
    carried += std::uint64_t{word} * factor;
    word = static_cast<std::uint32_t>(carried);
    carried >>= word_bits;
  }
  if (carried != 0) words_.push_back(static_cast<std::uint32_t>(carried));
}

void natural::multiply_by_ten(unsigned times) {
  constexpr std::uint32_t billion = 1'000'000'000;
  for (; times >= 9; times -= 9) multiply_add(billion, 0);
  for (; times != 0; --times) multiply_add(10, 0);
}

void natural::shift_left(std::size_t by) {
  if (words_.empty()) return;
  const unsigned inside = static_cast<unsigned>(by % word_bits);
  if (inside != 0) multiply_add(std::uint32_t{1} << inside, 0);
  words_.insert(words_.begin(), by / word_bits, 0);
}

void natural::subtract(const natural& no_greater) noexcept {
  std::uint64_t borrowed = 0;
  for (std::size_t i = 0; i < words_.size(); ++i) {
    const std::uint64_t taken =
        (i < no_greater.words_.size() ? no_greater.words_[i] : 0) + borrowed;
    borrowed = words_[i] < taken ? 1 : 0;
    words_[i] -= static_cast<std::uint32_t>(taken);
  }
  while (!words_.empty() && words_.back() == 0) words_.pop_back();
}

}  // namespace hmn
