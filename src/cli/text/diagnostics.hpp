// SPDX-License-Identifier: MIT OR Apache-2.0
#pragma once
#include <hypomnesis.h>

#include <string>
#include <vector>

#include "cli/handles.hpp"

namespace hmn::cli {

// Recorded driver calls are no faults.
bool is_trace(const hmn_diagnostic& diagnostic) noexcept;
// Worth a line: something is missing that this card could have.
bool matters(const hmn_diagnostic& diagnostic) noexcept;
// The same for what stands in the way of finding devices at all.
bool hides_devices(const hmn_diagnostic& diagnostic) noexcept;

std::string describe(const hmn_diagnostic& diagnostic);
// With the names of the figures that are missing.
std::string describe_with_fields(const hmn_diagnostic& diagnostic);
// Each text once: a device that fails one reading often fails the others in the same words.
std::vector<std::string> distinct_lines(const std::vector<hmn_diagnostic>& diagnostics,
                                        std::string (*line_for)(const hmn_diagnostic&) = describe);

// On standard error, a line each.
// `told`: why there is no device stands elsewhere already.
void print_diagnostics(const snapshot& picture, bool told = false);
void print_trace(const snapshot& picture);

}  // namespace hmn::cli
