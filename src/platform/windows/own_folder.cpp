// SPDX-License-Identifier: MIT OR Apache-2.0
#include <windows.h>

#include <array>

#include "platform/library.hpp"
#include "platform/windows/wide.hpp"

namespace hmn::platform {

std::string_view own_folder(std::span<char> buffer) noexcept {
  const auto* const here = reinterpret_cast<const wchar_t*>(&own_folder);
  constexpr DWORD by_address =
      GET_MODULE_HANDLE_EX_FLAG_FROM_ADDRESS | GET_MODULE_HANDLE_EX_FLAG_UNCHANGED_REFCOUNT;
  HMODULE file = nullptr;
  std::array<wchar_t, longest_path> path;
  if (!GetModuleHandleExW(by_address, here, &file)) return {};
  const DWORD length = GetModuleFileNameW(file, path.data(), static_cast<DWORD>(path.size()));
  if (length == 0 || length == path.size()) return {};
  const std::wstring_view whole(path.data(), length);
  return {buffer.data(), to_utf8(whole.substr(0, whole.rfind(L'\\')), buffer)};
}

}  // namespace hmn::platform
