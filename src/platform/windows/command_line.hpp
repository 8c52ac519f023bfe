// SPDX-License-Identifier: MIT OR Apache-2.0
#pragma once

#include <span>
#include <string>

namespace hmn::platform {

// Joins arguments for the parsers of the C runtime and CommandLineToArgvW.
std::wstring join_command_line(const std::wstring& program, std::span<const std::string> arguments);

// Returns the variables that programs require, from the system instead of our own environment.
std::wstring make_environment();

// Returns C:\Windows\System32; empty if unknown.
std::wstring system_folder();

}  // namespace hmn::platform
