// SPDX-License-Identifier: MIT OR Apache-2.0
#pragma once
#include <optional>
#include <string>

namespace hmn::cli {

std::optional<std::string> environment_value(const char* name);
void set_environment(const char* name, const std::string& value);
void unset_environment(const char* name);

}  // namespace hmn::cli
