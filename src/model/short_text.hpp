// SPDX-License-Identifier: MIT OR Apache-2.0
#pragma once

#include <cstddef>
#include <string_view>

namespace hmn {

// Literal of less than N bytes, stored in place. A table of these needs no relocations, each of
// which takes more bytes than most words.
template <std::size_t N>
class short_text {
 public:
  constexpr short_text() noexcept = default;
  template <std::size_t M>
  consteval short_text(const char (&literal)[M]) noexcept {  // NOLINT(google-explicit-constructor)
    static_assert(M <= N);
    for (std::size_t i = 0; i < M; ++i) bytes_[i] = literal[i];
  }

  [[nodiscard]] constexpr std::string_view view() const noexcept { return bytes_; }
  [[nodiscard]] constexpr const char* c_str() const noexcept { return bytes_; }
  [[nodiscard]] constexpr std::size_t size() const noexcept { return view().size(); }
  [[nodiscard]] constexpr bool empty() const noexcept { return bytes_[0] == '\0'; }
  constexpr operator std::string_view() const noexcept {
    return view();
  }  // NOLINT(google-explicit-constructor)

 private:
  char bytes_[N] = {};
};

}  // namespace hmn
