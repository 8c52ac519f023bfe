// SPDX-License-Identifier: MIT OR Apache-2.0
#include "platform/system_override.hpp"

#include <utility>

#include "platform/file.hpp"

namespace hmn::platform {
namespace {

constinit thread_local SystemOverride* thread_override = nullptr;

}  // namespace

constinit std::atomic<std::uint32_t> SystemOverride::thread_count_{0};

SystemOverride* SystemOverride::current() noexcept {
  return thread_override;
}

SystemOverride* SystemOverride::exchange(SystemOverride* next) noexcept {
  SystemOverride* const previous = std::exchange(thread_override, next);
  if (next != nullptr) thread_count_.fetch_add(1, std::memory_order_relaxed);
  if (previous != nullptr) thread_count_.fetch_sub(1, std::memory_order_relaxed);
  return previous;
}

ErrnoOr<size_t> read_small(const char* path, std::span<char> buffer) noexcept {
  if (SystemOverride* const active = SystemOverride::active())
    return active->read_small(path, buffer);
  return real::read_small(path, buffer);
}

ErrnoOr<bool> read_whole(const char* path, std::string& out, size_t cap) {
  if (SystemOverride* const active = SystemOverride::active())
    return active->read_whole(path, out, cap);
  return real::read_whole(path, out, cap);
}

ErrnoOr<size_t> read_link(const char* path, std::span<char> buffer) noexcept {
  if (SystemOverride* const active = SystemOverride::active())
    return active->read_link(path, buffer);
  return real::read_link(path, buffer);
}

ErrnoOr<FileStatus> read_status(const char* path) noexcept {
  if (SystemOverride* const active = SystemOverride::active()) return active->read_status(path);
  return real::read_status(path);
}

bool exists(const char* path) noexcept {
  if (SystemOverride* const active = SystemOverride::active()) return active->exists(path);
  return real::exists(path);
}

bool is_executable_file(const char* path) noexcept {
  if (SystemOverride* const active = SystemOverride::active())
    return active->is_executable_file(path);
  return real::is_executable_file(path);
}

}  // namespace hmn::platform
