// SPDX-License-Identifier: MIT OR Apache-2.0
#pragma once
#include <hypomnesis.hpp>

#include <string>
#include <vector>

namespace hmn::cli {

// Recorded driver calls are no faults.
bool is_trace(const hypomnesis::diagnostic& diagnostic) noexcept;
// Worth a line: something is missing that this card could have.
bool matters(const hypomnesis::diagnostic& diagnostic) noexcept;
// The same for what stands in the way of finding devices at all.
bool hides_devices(const hypomnesis::diagnostic& diagnostic) noexcept;

std::string describe(const hypomnesis::diagnostic& diagnostic);
// With the names of the figures that are missing.
std::string describe_with_fields(const hypomnesis::diagnostic& diagnostic);
// Each text once: a device that fails one reading often fails the others in the same words.
std::vector<std::string> distinct_lines(
    const std::vector<hypomnesis::diagnostic>& diagnostics,
    std::string (*line_for)(const hypomnesis::diagnostic&) = describe);

// On standard error, a line each.
// `told`: why there is no device stands elsewhere already.
void print_diagnostics(const hypomnesis::snapshot& snapshot, bool told = false);
void print_trace(const hypomnesis::snapshot& snapshot);

}  // namespace hmn::cli
