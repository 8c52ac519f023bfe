// SPDX-License-Identifier: MIT OR Apache-2.0
#pragma once

#include <span>
#include <string>

namespace hmn::platform {

// As the C runtime and CommandLineToArgvW take it apart again.
std::wstring command_line(const std::wstring& program, std::span<const std::string> arguments);

// A block of what programs of the system cannot do without, from the system, not from our own.
std::wstring fixed_environment();

// C:\Windows\System32; empty where it cannot be told.
std::wstring system_folder();

}  // namespace hmn::platform
