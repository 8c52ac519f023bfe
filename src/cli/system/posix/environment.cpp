// SPDX-License-Identifier: MIT OR Apache-2.0
#include "cli/system/environment.hpp"

#include <cstdlib>
#include <string_view>

#include "platform/process.hpp"

namespace hmn::cli {

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

}  // namespace hmn::cli
