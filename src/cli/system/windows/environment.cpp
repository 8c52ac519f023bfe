// SPDX-License-Identifier: MIT OR Apache-2.0
#include <windows.h>

#include <string_view>

#include "cli/system/environment.hpp"
#include "cli/system/windows/waiting.hpp"
#include "platform/process.hpp"
#include "platform/windows/system.hpp"

namespace hmn::cli {

std::optional<std::string> environment_value(const char* name) {
  for (const std::string_view tree : {"HMN_PROC", "HMN_SYS", "HMN_CGROUP", "HMN_DEV"})
    if (tree == name) return std::nullopt;
  const auto wide = platform::to_wide(name);
  std::wstring value(256, L'\0');
  for (;;) {
    const auto length =
        GetEnvironmentVariableW(wide.c_str(), value.data(), static_cast<DWORD>(value.size()));
    if (length == 0) return std::nullopt;
    if (length < value.size()) return platform::to_utf8({value.data(), length});
    value.resize(length);
  }
}

std::string host_name() {
  return platform::host_name();
}

void set_environment(const char* name, const std::string& value) {
  SetEnvironmentVariableW(platform::to_wide(name).c_str(), platform::to_wide(value).c_str());
}

void unset_environment(const char* name) {
  SetEnvironmentVariableW(platform::to_wide(name).c_str(), nullptr);
}

Surroundings standard_output_surroundings() {
  Surroundings around;
  const auto output = GetStdHandle(STD_OUTPUT_HANDLE);
  DWORD mode = 0;
  around.is_terminal = GetConsoleMode(output, &mode) != 0;
  around.no_color = environment_value("NO_COLOR").value_or("");
  around.locale = "C.UTF-8";
  if (!around.is_terminal) return around;
  CONSOLE_SCREEN_BUFFER_INFO about{};
  if (GetConsoleScreenBufferInfo(output, &about) != 0 &&
      about.srWindow.Right >= about.srWindow.Left) {
    around.columns = static_cast<unsigned>(about.srWindow.Right - about.srWindow.Left + 1);
    around.lines = static_cast<unsigned>(about.srWindow.Bottom - about.srWindow.Top + 1);
  }
  // A console without sequences would show them as text; it is written to in UTF-16.
  around.term = takes_sequences(output, mode) ? "console" : "dumb";
  return around;
}

}  // namespace hmn::cli
