// SPDX-License-Identifier: MIT OR Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

namespace hmn {

// Natural number of any length.
class natural {
 public:
  explicit natural(std::uint32_t n = 0);

  [[nodiscard]] std::size_t bits() const noexcept;
  [[nodiscard]] bool is_zero() const noexcept { return words_.empty(); }
  [[nodiscard]] bool is_below(const natural& other) const noexcept;

  void multiply_add(std::uint32_t factor, std::uint32_t addend);
  void multiply_by_ten(unsigned times);
  void shift_left(std::size_t by);
  void subtract(const natural& no_greater) noexcept;

 private:
  std::vector<std::uint32_t> words_;  // least significant first, without leading zeros
};

}  // namespace hmn
