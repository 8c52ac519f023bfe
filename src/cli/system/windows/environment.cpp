// SPDX-License-Identifier: MIT OR Apache-2.0
#include <windows.h>

#include <string_view>

#include "cli/system/environment.hpp"
#include "cli/system/windows/waiting.hpp"
#include "platform/process.hpp"
#include "platform/windows/system.hpp"

namespace hmn::cli {

std::optional<std::string> get_environment(const char* name) {
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

std::optional<std::string> get_trusted_environment(const char* name) {
  return get_environment(name);
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

Environment detect_output_environment() {
  Environment environment;
  const auto output = GetStdHandle(STD_OUTPUT_HANDLE);
  DWORD mode = 0;
  environment.is_terminal = GetConsoleMode(output, &mode) != 0;
  environment.no_color = get_environment("NO_COLOR").value_or("");
  environment.locale = "C.UTF-8";
  if (!environment.is_terminal) return environment;
  CONSOLE_SCREEN_BUFFER_INFO info{};
  if (GetConsoleScreenBufferInfo(output, &info) != 0 && info.srWindow.Right >= info.srWindow.Left) {
    environment.columns = static_cast<unsigned>(info.srWindow.Right - info.srWindow.Left + 1);
    environment.lines = static_cast<unsigned>(info.srWindow.Bottom - info.srWindow.Top + 1);
  }
  // A console without sequences would show them as text; it is written to in UTF-16.
  environment.term = enable_sequences(output, mode) ? "console" : "dumb";
  return environment;
}

}  // namespace hmn::cli
