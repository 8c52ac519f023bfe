// SPDX-License-Identifier: MIT OR Apache-2.0
#pragma once
#include <optional>
#include <string>

namespace hmn::cli {

// Returns the path of a file below share/hypomnesis of this installation, wherever it was moved;
// none if it is not installed.
std::optional<std::string> installed_file(const std::string& name);

}  // namespace hmn::cli
