// SPDX-License-Identifier: MIT OR Apache-2.0
#pragma once
#include <array>
#include <concepts>
#include <cstdint>
#include <initializer_list>
#include <span>
#include <string>
#include <string_view>
#include <type_traits>

namespace hmn {

// Part of a message: a text, which must outlive it, or a number. Only two words long, since every
// message is built of several.
class Piece {
 public:
  constexpr Piece(std::string_view text) noexcept  // NOLINT(google-explicit-constructor)
      : text_(text.data()), size_(static_cast<std::uint32_t>(text.size())), kind_(Kind::text) {}
  constexpr Piece(const std::string& text) noexcept  // NOLINT(google-explicit-constructor)
      : Piece(std::string_view(text)) {}
  constexpr Piece(const char* text) noexcept  // NOLINT(google-explicit-constructor)
      : text_(text), kind_(Kind::literal) {}
  template <std::integral T>
  constexpr Piece(T number) noexcept  // NOLINT(google-explicit-constructor)
      : number_(static_cast<std::uint64_t>(number)),
        kind_(number < 0 ? Kind::negative : Kind::natural) {
    static_assert(!std::same_as<T, char> && !std::same_as<T, bool>);
  }

 private:
  friend class PieceText;
  friend constexpr Piece hex(std::uint64_t number, unsigned width) noexcept;
  enum class Kind : std::uint8_t { literal, text, natural, negative, base_16 };

  union {
    const char* text_;
    std::uint64_t number_;
  };
  std::uint32_t size_;  // of text: its length; of base_16: the minimum number of digits
  Kind kind_;
};

// Formats a number in base 16, zero-padded to `width` digits, at most 16.
constexpr Piece hex(std::uint64_t number, unsigned width = 0) noexcept {
  Piece result = number;
  result.size_ = width;
  result.kind_ = Piece::Kind::base_16;
  return result;
}

// Text of a piece, with storage for the digits of a number.
class PieceText {
 public:
  explicit PieceText(const Piece& piece) noexcept;
  PieceText(const PieceText&) = delete;
  PieceText& operator=(const PieceText&) = delete;

  [[nodiscard]] std::string_view view() const noexcept { return text_; }

 private:
  std::array<char, 24> digits_;
  std::string_view text_;
};

// Concatenates the pieces of a message or a path. fmt would take an eighth of the library, most of
// it for numbers that no message has.
std::string compose(std::initializer_list<Piece> pieces);

// Concatenates as much as fits into `buffer`; returns the text in it.
std::string_view compose_into(std::span<char> buffer, std::initializer_list<Piece> pieces) noexcept;

// Sentence of at most 255 bytes, cut at a code point. Plain memory: reporting a failure needs no
// allocation and no cleanup.
class MessageText {
 public:
  static constexpr std::size_t capacity = 255;

  MessageText() noexcept : length_(0), was_cut_(false) {}
  // NOLINTNEXTLINE(google-explicit-constructor)
  MessageText(const char* text) noexcept : MessageText({Piece(text)}) {}
  // NOLINTNEXTLINE(google-explicit-constructor)
  MessageText(std::string_view text) noexcept : MessageText({Piece(text)}) {}
  // NOLINTNEXTLINE(google-explicit-constructor)
  MessageText(const std::string& text) noexcept : MessageText({Piece(text)}) {}
  MessageText(std::initializer_list<Piece> pieces) noexcept;

  [[nodiscard]] std::string_view view() const noexcept { return {bytes_.data(), length_}; }
  [[nodiscard]] bool was_cut() const noexcept { return was_cut_; }

  friend bool operator==(const MessageText& a, const MessageText& b) noexcept {
    return a.view() == b.view();
  }

 private:
  std::array<char, capacity> bytes_;
  std::uint8_t length_;
  bool was_cut_;
};
static_assert(std::is_trivially_copyable_v<MessageText>);

}  // namespace hmn
