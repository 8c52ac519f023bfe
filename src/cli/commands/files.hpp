// SPDX-License-Identifier: MIT OR Apache-2.0
#pragma once
#include <optional>

#include "cli/commands/options.hpp"

namespace hmn::cli {

// Returns a failure if a command cannot start, before it opens any file for writing: its program
// does not exist, two options name the same file, or a file cannot be written.
std::optional<Failure> check_files(const Options& options);

// Reports a requested file that could not be written, and turns a success into a failure of hmn.
void report_unwritten_file(const std::optional<Failure>& failure, ExitCode& code);

}  // namespace hmn::cli
