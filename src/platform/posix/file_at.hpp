// SPDX-License-Identifier: MIT OR Apache-2.0
#pragma once

#include <cstddef>
#include <span>

#include "platform/errno_or.hpp"
#include "platform/file.hpp"

namespace hmn::platform {

int open_for_reading(int at, const char* name) noexcept;
errno_or<size_t> read_full(int from, std::span<char> buffer) noexcept;
errno_or<size_t> read_small_at(int at, const char* name, std::span<char> buffer) noexcept;
errno_or<size_t> read_link_at(int at, const char* name, std::span<char> buffer) noexcept;

// What each system does in its own way.
errno_or<file_status> status_at(int at, const char* name) noexcept;
// A folder that others are found from; below 0 with errno.
int open_base(const char* path) noexcept;
// 0 or errno. `from` stays open.
int list_entries(int from, entry_visitor visit);
// `to` leads where `from` leads, and ends at an exec. False: it leads where it did.
bool redirect(int to, int from) noexcept;

}  // namespace hmn::platform
