// SPDX-License-Identifier: MIT OR Apache-2.0
//
// Run of a command, as far as POSIX systems agree.
#pragma once

#include <sys/resource.h>
#include <sys/types.h>

#include <csignal>
#include <string>
#include <vector>

#include "cli/system/child.hpp"

namespace hmn::cli {

// Starts a command after undoing hmn's own changes. `mask` is its signal mask; NULL: that of the
// caller. Returns 0 or errno.
int spawn(const std::vector<std::string>& command, const sigset_t& mask, pid_t& pid);
// Explains why a program was not started.
failure refusal(const std::string& program, int error);
// Decodes the status of wait4(2).
exit_code code_of(int status) noexcept;
std::string signal_of(int status);
// Fills everything but largest_bytes, as the unit of ru_maxrss depends on the system.
resource_use use_of(const rusage& reported);

// Returns the disposition before prepare_streams, for child processes.
bool pipe_signal_was_ignored() noexcept;

}  // namespace hmn::cli
