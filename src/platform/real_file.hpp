// SPDX-License-Identifier: MIT OR Apache-2.0
//
// Services of file.hpp by the system itself, regardless of stand-ins.
#pragma once

#include <cstddef>
#include <span>
#include <string>

#include "platform/errno_or.hpp"
#include "platform/file.hpp"

namespace hmn::platform::real {

errno_or<size_t> read_small(const char* path, std::span<char> buffer) noexcept;
errno_or<bool> read_whole(const char* path, std::string& out, size_t cap);
errno_or<size_t> read_link(const char* path, std::span<char> buffer) noexcept;
errno_or<file_status> status_of(const char* path) noexcept;
bool exists(const char* path) noexcept;
bool is_executable_file(const char* path) noexcept;
int for_each_entry(const char* path, entry_visitor visit);

}  // namespace hmn::platform::real
