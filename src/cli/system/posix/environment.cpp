// SPDX-License-Identifier: MIT OR Apache-2.0
#include <sys/ioctl.h>
#include <unistd.h>

#include <cstdlib>
#include <string_view>

#include "cli/system/environment.hpp"
#include "cli/system/streams.hpp"
#include "platform/process.hpp"

namespace hmn::cli {
namespace {

std::string find_locale() {
  for (const char* name : {"LC_ALL", "LC_CTYPE", "LANG"})
    if (auto value = get_environment(name); value && !value->empty()) return *std::move(value);
  return {};
}

}  // namespace

std::optional<std::string> get_environment(const char* name) {
  const bool is_ours = std::string_view(name).starts_with("HMN_");
  const char* value = is_ours ? platform::environment(name) : std::getenv(name);
  if (value == nullptr || *value == '\0') return std::nullopt;
  return value;
}

std::optional<std::string> get_trusted_environment(const char* name) {
  const char* value = platform::environment(name);
  if (value == nullptr || *value == '\0') return std::nullopt;
  return value;
}

std::string host_name() {
  return platform::host_name();
}

void set_environment(const char* name, const std::string& value) {
  setenv(name, value.c_str(), 1);
}

void unset_environment(const char* name) {
  unsetenv(name);
}

Environment detect_output_environment() {
  Environment environment;
  environment.is_terminal = isatty(output_descriptor()) == 1;
  winsize size{};
  if (environment.is_terminal && ioctl(output_descriptor(), TIOCGWINSZ, &size) == 0) {
    environment.columns = size.ws_col;
    environment.lines = size.ws_row;
  }
  environment.term = get_environment("TERM").value_or("");
  environment.no_color = get_environment("NO_COLOR").value_or("");
  environment.locale = find_locale();
  return environment;
}

}  // namespace hmn::cli
