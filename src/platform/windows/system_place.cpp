// SPDX-License-Identifier: MIT OR Apache-2.0
#include "platform/windows/system_place.hpp"

#include <algorithm>

#include "platform/windows/wide.hpp"

namespace hmn::platform {
namespace {

constexpr std::size_t drive = 2;  // "C:"

}  // namespace

system_place::system_place(below place, std::string_view rest) noexcept {
  std::array<wchar_t, MAX_PATH> name;
  const UINT length = GetSystemDirectoryW(name.data(), static_cast<UINT>(name.size()));
  if (length <= drive || length >= name.size()) return;
  const std::size_t named = place == below::system_drive ? drive : length;
  const std::size_t used = to_utf8({name.data(), named}, text_);
  // Reserve bytes for '\', the suffix and the terminator.
  if (used == 0 || rest.size() + 2 > text_.size() - used) {
    text_[0] = '\0';
    return;
  }
  text_[used] = '\\';
  const auto end = std::copy(rest.begin(), rest.end(), text_.begin() + used + 1);
  *end = '\0';
  size_ = used + 1 + rest.size();
}

}  // namespace hmn::platform
