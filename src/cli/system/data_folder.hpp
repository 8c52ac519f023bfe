// SPDX-License-Identifier: MIT OR Apache-2.0
#pragma once
#include <optional>
#include <string>
#include <vector>

namespace hmn::cli {

// Returns the path of an example machine by its name, "workstation"; none if there is none. They
// are below share/hypomnesis of this installation, wherever it was moved, or where hmn was built.
std::optional<std::string> machine_file(const std::string& name);
// Returns the names of the example machines, in alphabetical order.
std::vector<std::string> machine_names();

}  // namespace hmn::cli
