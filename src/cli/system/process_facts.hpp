// SPDX-License-Identifier: MIT OR Apache-2.0
#pragma once
#include <cstdint>
#include <optional>
#include <string>

#include "cli/system/roots.hpp"

namespace hmn::cli {

// Facts that the command looks up by itself: a user's name may come over a network, which a library
// must not wait for.

// Looks up the user; uid is from the library, and is the result for one without a name.
std::optional<std::string> process_user(std::uint32_t pid, std::optional<std::uint32_t> uid);

// Returns the pid in the process's own PID namespace, from the proc tree that the library reads.
// Returns none on systems without PID namespaces.
std::optional<std::uint32_t> namespace_pid(std::uint32_t pid);

// Returns the processor time that a process has used, with all its threads. Returns none for one
// that has ended or cannot be read, and on systems other than Linux.
std::optional<std::uint64_t> process_cpu_ns(const roots& in, std::uint32_t pid);

}  // namespace hmn::cli
