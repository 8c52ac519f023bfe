// SPDX-License-Identifier: MIT OR Apache-2.0
#pragma once
#include <hypomnesis.hpp>

#include <string>
#include <vector>

namespace hmn::cli {

// Returns whether it is a traced driver call, which is no fault.
bool is_trace(const hypomnesis::diagnostic& diagnostic) noexcept;
// Returns whether it deserves a line: a missing value that this card could have.
bool matters(const hypomnesis::diagnostic& diagnostic) noexcept;
// Returns whether it is about a whole list of processes or the memory of all in it.
bool hides_processes(const hypomnesis::diagnostic& diagnostic) noexcept;
// Returns whether a list of processes is missing or lacks some, so that its length is unknown.
bool hides_some_processes(const hypomnesis::diagnostic& diagnostic) noexcept;
// Returns whether it is a fault, rather than an unsupported, intentionally absent or pending value,
// a process that is not there, or a missing right that costs a value or some processes.
bool is_fault(const hypomnesis::diagnostic& diagnostic) noexcept;
// Returns whether it may prevent the detection of devices.
bool hides_devices(const hypomnesis::diagnostic& diagnostic) noexcept;
// Returns whether devices may be missing because of it, or partitions of the one that it is about.
bool hides_some_devices(const hypomnesis::diagnostic& diagnostic) noexcept;

// Returns the values that a diagnostic is about: "encoder load, energy". Empty: no named value, or
// all.
std::string format_fields(const hypomnesis::diagnostic& diagnostic);

std::string describe(const hypomnesis::diagnostic& diagnostic);
// Describes it without the device.
std::string describe_without_device(const hypomnesis::diagnostic& diagnostic);
// Includes the names of the missing values.
std::string describe_with_fields(const hypomnesis::diagnostic& diagnostic);
// Returns one diagnostic for the processes of a device that share a reason, which counts them.
std::vector<hypomnesis::diagnostic> merge_process_diagnostics(
    std::vector<hypomnesis::diagnostic> diagnostics);
// Returns each text once: a device that fails one reading often fails others with the same message.
std::vector<std::string> format_distinct_lines(
    const std::vector<hypomnesis::diagnostic>& diagnostics,
    std::string (*formatter)(const hypomnesis::diagnostic&) = describe);

// Prints to standard error, a line each. `is_reason_shown`: the reason for missing devices is
// already printed.
void print_diagnostics(const hypomnesis::snapshot& snapshot, bool is_reason_shown = false);
void print_trace(const hypomnesis::snapshot& snapshot);

}  // namespace hmn::cli
