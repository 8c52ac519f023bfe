// SPDX-License-Identifier: MIT OR Apache-2.0
#include "platform/real_file.hpp"

#include <fcntl.h>

#include "platform/linux/file_at.hpp"

namespace hmn::platform::real {

errno_or<size_t> read_small(const char* path, std::span<char> buffer) noexcept {
  return read_small_at(AT_FDCWD, path, buffer);
}

errno_or<bool> read_whole(const char* path, std::string& out, size_t cap) {
  return read_whole_file(path, out, cap);
}

errno_or<size_t> read_link(const char* path, std::span<char> buffer) noexcept {
  return read_link_at(AT_FDCWD, path, buffer);
}

errno_or<file_status> status_of(const char* path) noexcept {
  return status_at(AT_FDCWD, path);
}

bool exists(const char* path) noexcept {
  return is_there_at(path);
}

bool is_executable_file(const char* path) noexcept {
  return is_program_at(path);
}

int for_each_entry(const char* path, entry_visitor visit) {
  return for_each_entry_at(AT_FDCWD, path, visit);
}

}  // namespace hmn::platform::real
