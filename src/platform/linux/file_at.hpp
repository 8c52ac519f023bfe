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
errno_or<file_status> status_at(int at, const char* name) noexcept;
int for_each_entry_at(int at, const char* name, entry_visitor visit);
errno_or<bool> read_whole_file(const char* path, std::string& out, size_t cap);
bool is_there_at(const char* path) noexcept;
bool is_program_at(const char* path) noexcept;

}  // namespace hmn::platform
