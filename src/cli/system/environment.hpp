// SPDX-License-Identifier: MIT OR Apache-2.0
#pragma once
#include <optional>
#include <string>

namespace hmn::cli {

// Returns none for a variable that is unset, empty or ignored: HMN_* after a privileged start,
// those of trees on a system without them.
std::optional<std::string> environment_value(const char* name);
std::string host_name();
void set_environment(const char* name, const std::string& value);
void unset_environment(const char* name);

}  // namespace hmn::cli
