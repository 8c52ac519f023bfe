// SPDX-License-Identifier: MIT OR Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>

namespace hmn::platform {

uint32_t current_pid() noexcept;
// Returns whether a process may have several pids, in different namespaces.
bool has_pid_namespaces() noexcept;
size_t page_size() noexcept;
uint64_t clock_ticks_per_second() noexcept;

// Returns the host name of uname, or an empty text.
std::string host_name();

// Returns whether the process started with more rights than its caller (set-user-id and alike).
bool is_privileged_start() noexcept;

// Returns NULL when unset, and always after a privileged start.
const char* environment(const char* name) noexcept;

}  // namespace hmn::platform
