// SPDX-License-Identifier: MIT OR Apache-2.0
#pragma once

#include <array>
#include <cstdint>
#include <initializer_list>
#include <string>
#include <string_view>
#include <type_traits>

#include "model/compose.hpp"

namespace hmn {

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
