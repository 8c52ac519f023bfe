// SPDX-License-Identifier: MIT OR Apache-2.0
#include "platform/system_override.hpp"

#include <utility>

#include "platform/file.hpp"

namespace hmn::platform {
namespace {

constinit thread_local SystemOverride* asked = nullptr;

}  // namespace

constinit std::atomic<std::uint32_t> SystemOverride::in_use_{0};

SystemOverride* SystemOverride::current() noexcept {
  return asked;
}

SystemOverride* SystemOverride::exchange(SystemOverride* next) noexcept {
  SystemOverride* const before = std::exchange(asked, next);
  if (next != nullptr) in_use_.fetch_add(1, std::memory_order_relaxed);
  if (before != nullptr) in_use_.fetch_sub(1, std::memory_order_relaxed);
  return before;
}

ErrnoOr<size_t> read_small(const char* path, std::span<char> buffer) noexcept {
  if (SystemOverride* const r = SystemOverride::of_thread()) return r->read_small(path, buffer);
  return real::read_small(path, buffer);
}

ErrnoOr<bool> read_whole(const char* path, std::string& out, size_t cap) {
  if (SystemOverride* const r = SystemOverride::of_thread()) return r->read_whole(path, out, cap);
  return real::read_whole(path, out, cap);
}

ErrnoOr<size_t> read_link(const char* path, std::span<char> buffer) noexcept {
  if (SystemOverride* const r = SystemOverride::of_thread()) return r->read_link(path, buffer);
  return real::read_link(path, buffer);
}

ErrnoOr<FileStatus> status_of(const char* path) noexcept {
  if (SystemOverride* const r = SystemOverride::of_thread()) return r->status_of(path);
  return real::status_of(path);
}

bool exists(const char* path) noexcept {
  if (SystemOverride* const r = SystemOverride::of_thread()) return r->exists(path);
  return real::exists(path);
}

bool is_executable_file(const char* path) noexcept {
  if (SystemOverride* const r = SystemOverride::of_thread()) return r->is_executable_file(path);
  return real::is_executable_file(path);
}

}  // namespace hmn::platform
