// SPDX-License-Identifier: MIT OR Apache-2.0
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "cli/expected.hpp"

namespace hmn::cli {

// Returns the path of an example machine by its name, "workstation"; none if there is none. They
// are below share/hypomnesis of this installation, wherever it was moved, or where hmn was built.
std::optional<std::string> find_machine_file(const std::string& name);
// Returns the names of the example machines, in alphabetical order.
std::vector<std::string> list_machines();

// Replaces this process by a program that is installed with hmn for its use alone, with the same
// words of the command line. Returns only on failure.
Failure exec_program(const std::string& program, const std::vector<std::string>& command_line);

}  // namespace hmn::cli
