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
class piece {
 public:
  constexpr piece(std::string_view text) noexcept  // NOLINT(google-explicit-constructor)
      : text_(text.data()), size_(static_cast<std::uint32_t>(text.size())), is_(kind::text) {}
  constexpr piece(const std::string& text) noexcept  // NOLINT(google-explicit-constructor)
      : piece(std::string_view(text)) {}
  constexpr piece(const char* text) noexcept  // NOLINT(google-explicit-constructor)
      : text_(text), is_(kind::literal) {}
  template <std::integral T>
  constexpr piece(T number) noexcept  // NOLINT(google-explicit-constructor)
      : number_(static_cast<std::uint64_t>(number)),
        is_(number < 0 ? kind::negative : kind::natural) {
    static_assert(!std::same_as<T, char> && !std::same_as<T, bool>);
  }

 private:
  friend class piece_text;
  friend constexpr piece hex(std::uint64_t number, unsigned width) noexcept;
  enum class kind : std::uint8_t { literal, text, natural, negative, base_16 };

  union {
    const char* text_;
    std::uint64_t number_;
  };
  std::uint32_t size_;  // of kind::text: its length; of base_16: the least number of its digits
  kind is_;
};

// Formats a number in base 16, zero-padded to `width` digits, at most 16.
constexpr piece hex(std::uint64_t number, unsigned width = 0) noexcept {
  piece made = number;
  made.size_ = width;
  made.is_ = piece::kind::base_16;
  return made;
}

// Text of a piece, with storage for the digits of a number.
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

// Sentence of at most 255 bytes, cut at a code point. Plain memory: reporting a failure needs no
// allocation and no cleanup.
class message_text {
 public:
  static constexpr std::size_t capacity = 255;

  message_text() noexcept : length_(0), was_cut_(false) {}
  message_text(const char* text) noexcept
      : message_text({piece(text)}) {}  // NOLINT(google-explicit-constructor)
  message_text(std::string_view text) noexcept
      : message_text({piece(text)}) {}  // NOLINT(google-explicit-constructor)
  message_text(const std::string& text) noexcept
      : message_text({piece(text)}) {}  // NOLINT(google-explicit-constructor)
  message_text(std::initializer_list<piece> pieces) noexcept;

  [[nodiscard]] std::string_view view() const noexcept { return {bytes_.data(), length_}; }
  [[nodiscard]] bool was_cut() const noexcept { return was_cut_; }

  friend bool operator==(const message_text& a, const message_text& b) noexcept {
    return a.view() == b.view();
  }

 private:
  std::array<char, capacity> bytes_;
  std::uint8_t length_;
  bool was_cut_;
};
static_assert(std::is_trivially_copyable_v<message_text>);

}  // namespace hmn
