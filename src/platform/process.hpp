// SPDX-License-Identifier: MIT OR Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>

namespace hmn::platform {

uint32_t current_pid() noexcept;
// Whether one process may have several pids, seen from different places.
bool has_pid_namespaces() noexcept;
size_t page_size() noexcept;
uint64_t clock_ticks_per_second() noexcept;

// As uname tells it; empty when it is not told.
std::string host_name();

// Started with more rights than its caller has (set-user-id and alike).
bool is_privileged_start() noexcept;

// NULL when unset, and always after a privileged start.
const char* environment(const char* name) noexcept;

}  // namespace hmn::platform
