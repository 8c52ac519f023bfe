// SPDX-License-Identifier: MIT OR Apache-2.0
#pragma once

#include <array>
#include <concepts>
#include <cstdint>
#include <initializer_list>
#include <span>
#include <string>
#include <string_view>

namespace hmn {

// Part of a message: a text, which must outlive it, or a number.
class piece {
 public:
  piece(std::string_view text) noexcept : text_(text) {}    // NOLINT(google-explicit-constructor)
  piece(const std::string& text) noexcept : text_(text) {}  // NOLINT(google-explicit-constructor)
  piece(const char* text) noexcept : text_(text) {}         // NOLINT(google-explicit-constructor)
  template <std::integral T>
  piece(T number) noexcept {  // NOLINT(google-explicit-constructor)
    static_assert(!std::same_as<T, char> && !std::same_as<T, bool>);
    const bool negative = number < 0;
    const auto size = static_cast<std::uint64_t>(number);
    set_number(negative ? 0 - size : size, 10, negative, 0);
  }

  [[nodiscard]] std::string_view view() const noexcept {
    return length_ == 0 ? text_ : std::string_view(digits_.data(), length_);
  }

 private:
  friend piece hex(std::uint64_t number, unsigned width) noexcept;
  void set_number(std::uint64_t size, int base, bool negative, unsigned width) noexcept;

  std::string_view text_;
  std::array<char, 24> digits_;
  std::uint8_t length_ = 0;
};

// Formats a number in base 16, zero-padded to `width` digits, at most 16.
piece hex(std::uint64_t number, unsigned width = 0) noexcept;

// Concatenates the pieces of a message or a path. fmt would take an eighth of the library, most of
// it for numbers that no message has.
std::string compose(std::initializer_list<piece> pieces);

// Concatenates into `out` as much as fits.
std::string_view compose_in(std::span<char> out, std::initializer_list<piece> pieces) noexcept;

}  // namespace hmn
