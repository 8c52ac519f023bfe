// SPDX-License-Identifier: MIT OR Apache-2.0
#include "platform/system_override.hpp"

#include <utility>

#include "platform/file.hpp"

namespace hmn::platform {
namespace {

constinit thread_local system_override* asked = nullptr;

}  // namespace

constinit std::atomic<std::uint32_t> system_override::in_use_{0};

system_override* system_override::current() noexcept {
  return asked;
}

system_override* system_override::exchange(system_override* next) noexcept {
  system_override* const before = std::exchange(asked, next);
  if (next != nullptr) in_use_.fetch_add(1, std::memory_order_relaxed);
  if (before != nullptr) in_use_.fetch_sub(1, std::memory_order_relaxed);
  return before;
}

errno_or<size_t> read_small(const char* path, std::span<char> buffer) noexcept {
  if (system_override* const r = system_override::of_thread()) return r->read_small(path, buffer);
  return real::read_small(path, buffer);
}

errno_or<bool> read_whole(const char* path, std::string& out, size_t cap) {
  if (system_override* const r = system_override::of_thread()) return r->read_whole(path, out, cap);
  return real::read_whole(path, out, cap);
}

errno_or<size_t> read_link(const char* path, std::span<char> buffer) noexcept {
  if (system_override* const r = system_override::of_thread()) return r->read_link(path, buffer);
  return real::read_link(path, buffer);
}

errno_or<file_status> status_of(const char* path) noexcept {
  if (system_override* const r = system_override::of_thread()) return r->status_of(path);
  return real::status_of(path);
}

bool exists(const char* path) noexcept {
  if (system_override* const r = system_override::of_thread()) return r->exists(path);
  return real::exists(path);
}

bool is_executable_file(const char* path) noexcept {
  if (system_override* const r = system_override::of_thread()) return r->is_executable_file(path);
  return real::is_executable_file(path);
}

}  // namespace hmn::platform
