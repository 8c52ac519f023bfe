// SPDX-License-Identifier: MIT OR Apache-2.0
//
// Starting a command: the part that POSIX systems share.
#pragma once

#include <sys/types.h>

#include <csignal>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "cli/system/child.hpp"

namespace hmn::cli {

// Signal settings that a command inherits in place of hmn's own.
struct InheritedSignals {
  sigset_t mask{};
  bool ignores_children = false;  // SIGCHLD
};
// Starts a command after undoing hmn's own changes. Returns 0 or errno.
int spawn(const std::vector<std::string>& command, const InheritedSignals& signals, pid_t& pid);
// Explains why a program was not started.
Failure start_error(const std::string& program, int error);
// Returns the end of a child, or none while it runs. `maxrss_unit`: bytes in a unit of ru_maxrss,
// which depends on the system. A child that the system cannot wait for is ended.
std::optional<ProcessEnd> reap_child(pid_t pid, std::uint64_t maxrss_unit);

// Returns the signals that prepare_streams ignores and that had their default before.
const sigset_t& restorable_signals() noexcept;

}  // namespace hmn::cli
