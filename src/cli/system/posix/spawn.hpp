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

// Starts a command after undoing hmn's own changes. `mask` is its signal mask; NULL: that of the
// caller. Returns 0 or errno.
int spawn(const std::vector<std::string>& command, const sigset_t& mask, pid_t& pid);
// Explains why a program was not started.
failure refusal(const std::string& program, int error);
// Returns the end of a child, or none while it runs. `maxrss_unit`: bytes in a unit of ru_maxrss,
// which depends on the system. A child that the system cannot wait for is ended.
std::optional<process_end> end_of(pid_t pid, std::uint64_t maxrss_unit);

// Returns the disposition before prepare_streams, for child processes.
bool pipe_signal_was_ignored() noexcept;

}  // namespace hmn::cli
