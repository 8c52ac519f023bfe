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

// Part of a message: a text, which must outlive it, or a number. Two words, as every message is
// built of several.
class piece {
 public:
  constexpr piece(std::string_view text) noexcept  // NOLINT(google-explicit-constructor)
      : text_(text.data()), form_(static_cast<std::uint32_t>(text.size())) {}
  constexpr piece(const std::string& text) noexcept  // NOLINT(google-explicit-constructor)
      : piece(std::string_view(text)) {}
  constexpr piece(const char* text) noexcept  // NOLINT(google-explicit-constructor)
      : piece(std::string_view(text)) {}
  template <std::integral T>
  constexpr piece(T number) noexcept  // NOLINT(google-explicit-constructor)
      : number_(static_cast<std::uint64_t>(number)), form_(number < 0 ? negative : natural) {
    static_assert(!std::same_as<T, char> && !std::same_as<T, bool>);
  }

 private:
  friend class piece_text;
  friend constexpr piece hex(std::uint64_t number, unsigned width) noexcept;
  static constexpr std::uint32_t natural = 1U << 30;
  static constexpr std::uint32_t negative = 2U << 30;
  static constexpr std::uint32_t base_16 = 3U << 30;

  union {
    const char* text_;
    std::uint64_t number_;
  };
  // Length of a text, or what a number is, with the least number of its digits in base 16. One
  // word, as it is written wherever a message is built.
  std::uint32_t form_;
};

// Formats a number in base 16, zero-padded to `width` digits, at most 16.
constexpr piece hex(std::uint64_t number, unsigned width = 0) noexcept {
  piece made = number;
  made.form_ = piece::base_16 | width;
  return made;
}

// Text of a piece.
class piece_text {
 public:
  explicit piece_text(const piece& p) noexcept;
  piece_text(const piece_text&) = delete;
  piece_text& operator=(const piece_text&) = delete;

  [[nodiscard]] std::string_view view() const noexcept { return text_; }

 private:
  std::array<char, 24> digits_;
  std::string_view text_;
};

// Concatenates the pieces of a message or a path. fmt would take an eighth of the library, most of
// it for numbers that no message has.
std::string compose(std::initializer_list<piece> pieces);

// Concatenates into `out` as much as fits.
std::string_view compose_in(std::span<char> out, std::initializer_list<piece> pieces) noexcept;

}  // namespace hmn
