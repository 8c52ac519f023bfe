// SPDX-License-Identifier: MIT OR Apache-2.0
#include "cli/system/environment.hpp"

#include <cstdlib>

namespace hmn::cli {

std::optional<std::string> environment_value(const char* name) {
  const char* value = std::getenv(name);
  return value == nullptr ? std::nullopt : std::optional<std::string>(value);
}

void set_environment(const char* name, const std::string& value) {
  setenv(name, value.c_str(), 1);
}

void unset_environment(const char* name) {
  unsetenv(name);
}

}  // namespace hmn::cli
