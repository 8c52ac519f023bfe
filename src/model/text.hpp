// SPDX-License-Identifier: MIT OR Apache-2.0
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>

namespace hmn {

// Appends `bytes` as UTF-8: each maximal ill-formed part, and NUL, becomes U+FFFD.
void append_utf8(std::string& out, std::string_view bytes);

// Returns the length of the part in front of the first byte that append_utf8 would replace.
std::size_t utf8_length(std::string_view bytes) noexcept;

// Writes as much of `bytes` as fits into `out` (capacity includes the terminator), made valid as
// above and cut at a code point. Returns the length and sets `was_cut` if bytes were left out.
std::size_t copy_utf8(char* out, std::size_t capacity, std::string_view bytes,
                      bool& was_cut) noexcept;

// NUL-terminated UTF-8 text of bounded length that needs no allocation.
template <std::size_t N>
class Text {
 public:
  Text() = default;
  explicit Text(std::string_view bytes) noexcept { assign(bytes); }

  void assign(std::string_view bytes) noexcept {
    length_ = static_cast<std::uint16_t>(copy_utf8(bytes_.data(), N, bytes, was_cut_));
  }
  void clear() noexcept { *this = Text(); }

  [[nodiscard]] std::string_view view() const noexcept { return {bytes_.data(), length_}; }
  [[nodiscard]] const char* c_str() const noexcept { return bytes_.data(); }
  [[nodiscard]] bool empty() const noexcept { return length_ == 0; }
  [[nodiscard]] bool was_cut() const noexcept { return was_cut_; }

  friend bool operator==(const Text& a, const Text& b) noexcept { return a.view() == b.view(); }

 private:
  static_assert(N > 0 && N < 65536);
  std::uint16_t length_ = 0;
  bool was_cut_ = false;
  std::array<char, N> bytes_{};
};

}  // namespace hmn
