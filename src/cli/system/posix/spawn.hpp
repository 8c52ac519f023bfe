// SPDX-License-Identifier: MIT OR Apache-2.0
//
// A command from its words to its end, as far as POSIX systems do the same.
#pragma once

#include <sys/resource.h>
#include <sys/types.h>

#include <csignal>
#include <string>
#include <vector>

#include "cli/system/child.hpp"

namespace hmn::cli {

// Undoes what hmn changed for itself. `mask`: the signals that are blocked in it; NULL: those that
// are blocked here. 0 or errno.
int spawn(const std::vector<std::string>& command, const sigset_t& mask, pid_t& pid);
// Why a program was not started.
failure refusal(const std::string& program, int error);
// Of what wait4(2) told.
exit_code code_of(int status) noexcept;
std::string signal_of(int status);
// All but largest_bytes: systems count ru_maxrss in units of their own.
resource_use use_of(const rusage& told);

// Before prepare_streams: for the children of this program.
bool pipe_signal_was_ignored() noexcept;

}  // namespace hmn::cli
