// SPDX-License-Identifier: MIT OR Apache-2.0
#include "platform/file.hpp"

#include "platform/real_file.hpp"
#include "platform/stand_in.hpp"

namespace hmn::platform {

errno_or<size_t> read_small(const char* path, std::span<char> buffer) noexcept {
  if (stand_in* const r = stand_in::of_thread()) return r->read_small(path, buffer);
  return real::read_small(path, buffer);
}

errno_or<bool> read_whole(const char* path, std::string& out, size_t cap) {
  if (stand_in* const r = stand_in::of_thread()) return r->read_whole(path, out, cap);
  return real::read_whole(path, out, cap);
}

errno_or<size_t> read_link(const char* path, std::span<char> buffer) noexcept {
  if (stand_in* const r = stand_in::of_thread()) return r->read_link(path, buffer);
  return real::read_link(path, buffer);
}

errno_or<file_status> status_of(const char* path) noexcept {
  if (stand_in* const r = stand_in::of_thread()) return r->status_of(path);
  return real::status_of(path);
}

bool exists(const char* path) noexcept {
  if (stand_in* const r = stand_in::of_thread()) return r->exists(path);
  return real::exists(path);
}

bool is_executable_file(const char* path) noexcept {
  if (stand_in* const r = stand_in::of_thread()) return r->is_executable_file(path);
  return real::is_executable_file(path);
}

}  // namespace hmn::platform
