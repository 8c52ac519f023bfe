// SPDX-License-Identifier: MIT OR Apache-2.0
#pragma once
#include <optional>

#include "cli/commands/options.hpp"

namespace hmn::cli {

// Returns why a command cannot begin, before it opens any file for writing: there is no such
// program to run, two options name one file, or a file cannot be written.
std::optional<Failure> check_files(const Options& of);

// Reports a file that was asked for and could not be written, which turns a success into a failure
// of hmn.
void count_unwritten(const std::optional<Failure>& why, ExitCode& code);

}  // namespace hmn::cli
