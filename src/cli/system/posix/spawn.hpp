// SPDX-License-Identifier: MIT OR Apache-2.0
//
// Run of a command, as far as POSIX systems agree.
#pragma once

#include <sys/types.h>

#include <csignal>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "cli/system/child.hpp"

namespace hmn::cli {

// What a command inherits in place of what hmn set for itself.
struct InheritedSignals {
  sigset_t mask{};
  bool ignores_children = false;  // SIGCHLD
};
// Starts a command after undoing hmn's own changes. Returns 0 or errno.
int spawn(const std::vector<std::string>& command, const InheritedSignals& how, pid_t& pid);
// Explains why a program was not started.
Failure refusal(const std::string& program, int error);
// Returns the end of a child, or none while it runs. `maxrss_unit`: bytes in a unit of ru_maxrss,
// which depends on the system. A child that the system cannot wait for is ended.
std::optional<ProcessEnd> end_of(pid_t pid, std::uint64_t maxrss_unit);

// Returns the signals that prepare_streams ignores and that had their default before.
const sigset_t& signals_changed() noexcept;

}  // namespace hmn::cli
