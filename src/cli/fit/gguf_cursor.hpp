// SPDX-License-Identifier: MIT OR Apache-2.0
#pragma once
#include <cstdint>
#include <cstring>
#include <string_view>

namespace hmn::cli::fit {

// Reads little-endian values in order; once something is missing, everything after it is zero.
class gguf_cursor {
 public:
  explicit gguf_cursor(std::string_view bytes) : bytes_(bytes) {}

  template <class T>
  T take() {
    T value{};
    const auto from = take_bytes(sizeof(T));
    if (!ended_) std::memcpy(&value, from.data(), sizeof(T));
    return value;
  }
  std::string_view take_bytes(std::uint64_t count) {
    if (count > bytes_.size() - at_) ended_ = true;
    if (ended_) return {};
    const auto part = bytes_.substr(at_, static_cast<std::size_t>(count));
    at_ += part.size();
    return part;
  }
  std::string_view take_text() { return take_bytes(take<std::uint64_t>()); }
  std::uint64_t position() const { return at_; }
  std::uint64_t left() const { return bytes_.size() - at_; }
  bool ended() const { return ended_; }

 private:
  std::string_view bytes_;
  std::size_t at_ = 0;
  bool ended_ = false;
};

}  // namespace hmn::cli::fit
