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

std::string locale_name() {
  for (const char* name : {"LC_ALL", "LC_CTYPE", "LANG"})
    if (auto value = environment_value(name); value && !value->empty()) return *std::move(value);
  return {};
}

}  // namespace

std::optional<std::string> environment_value(const char* name) {
  const bool is_ours = std::string_view(name).starts_with("HMN_");
  const char* value = is_ours ? platform::environment(name) : std::getenv(name);
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

Surroundings standard_output_surroundings() {
  Surroundings around;
  around.is_terminal = isatty(output_descriptor()) == 1;
  winsize size{};
  if (around.is_terminal && ioctl(output_descriptor(), TIOCGWINSZ, &size) == 0) {
    around.columns = size.ws_col;
    around.lines = size.ws_row;
  }
  around.term = environment_value("TERM").value_or("");
  around.no_color = environment_value("NO_COLOR").value_or("");
  around.locale = locale_name();
  return around;
}

}  // namespace hmn::cli
