// SPDX-License-Identifier: MIT OR Apache-2.0
#include "cli/system/environment.hpp"

#include <windows.h>

#include "platform/windows/wide.hpp"

namespace hmn::cli {

std::optional<std::string> environment_value(const char* name) {
  const auto wide = platform::to_wide(name);
  std::wstring value(256, L'\0');
  for (;;) {
    SetLastError(ERROR_SUCCESS);
    const auto length =
        GetEnvironmentVariableW(wide.c_str(), value.data(), static_cast<DWORD>(value.size()));
    if (length == 0 && GetLastError() == ERROR_ENVVAR_NOT_FOUND) return std::nullopt;
    if (length < value.size()) return platform::to_utf8({value.data(), length});
    value.resize(length);
  }
}

void set_environment(const char* name, const std::string& value) {
  SetEnvironmentVariableW(platform::to_wide(name).c_str(), platform::to_wide(value).c_str());
}

void unset_environment(const char* name) {
  SetEnvironmentVariableW(platform::to_wide(name).c_str(), nullptr);
}

}  // namespace hmn::cli
