// SPDX-License-Identifier: MIT OR Apache-2.0
#include "platform/windows/output_pipe.hpp"

#include <algorithm>
#include <atomic>
#include <cerrno>
#include <string>

#include "platform/clock.hpp"
#include "platform/windows/system_error.hpp"

namespace hmn::platform {
namespace {

constinit std::atomic<uint32_t> opened{0};

// Returns a name that is unique to this process.
std::wstring fresh_name() {
  std::wstring name = L"\\\\.\\pipe\\hypomnesis-" + std::to_wstring(GetCurrentProcessId());
  name += L'-' + std::to_wstring(opened.fetch_add(1, std::memory_order_relaxed));
  return name += L'-' + std::to_wstring(monotonic_ns());
}

}  // namespace

DWORD wait_before(uint64_t deadline_ns) noexcept {
  constexpr uint64_t longest = 60'000;
  const uint64_t now = monotonic_ns();
  const uint64_t left = deadline_ns > now ? deadline_ns - now : 0;
  return static_cast<DWORD>(std::min(left / ns_per_ms + (left % ns_per_ms != 0), longest));
}

// Creates the first and only instance, for this machine alone. Another process that created the
// name earlier, or connects between the two calls, makes one of them fail.
int output_pipe::open() {
  const std::wstring name = fresh_name();
  constexpr DWORD buffer = 65536;
  arrived_ = handle(CreateEventW(nullptr, TRUE, FALSE, nullptr));
  if (!arrived_) return last_errno();
  from_child_ = handle(CreateNamedPipeW(
      name.c_str(), PIPE_ACCESS_INBOUND | FILE_FLAG_FIRST_PIPE_INSTANCE | FILE_FLAG_OVERLAPPED,
      PIPE_TYPE_BYTE | PIPE_WAIT | PIPE_REJECT_REMOTE_CLIENTS, 1, 0, buffer, 0, nullptr));
  if (!from_child_) return last_errno();
  SECURITY_ATTRIBUTES inherited{sizeof inherited, nullptr, TRUE};
  to_parent_ = handle(CreateFileW(name.c_str(), GENERIC_WRITE, 0, &inherited, OPEN_EXISTING,
                                  SECURITY_SQOS_PRESENT | SECURITY_IDENTIFICATION, nullptr));
  return to_parent_ ? 0 : last_errno();
}

errno_or<size_t> output_pipe::read(std::span<char> buffer, uint64_t deadline_ns) noexcept {
  OVERLAPPED pending{};
  pending.hEvent = arrived_.get();
  DWORD got = 0;
  bool timed_out = false;
  if (!ReadFile(from_child_.get(), buffer.data(), static_cast<DWORD>(buffer.size()), nullptr,
                &pending) &&
      GetLastError() != ERROR_IO_PENDING) {
    return {0, GetLastError() == ERROR_BROKEN_PIPE ? 0 : last_errno()};
  }
  while (!timed_out &&
         WaitForSingleObject(arrived_.get(), wait_before(deadline_ns)) != WAIT_OBJECT_0)
    timed_out = monotonic_ns() >= deadline_ns;
  if (timed_out) CancelIoEx(from_child_.get(), &pending);
  // Wait: the system owns the buffer until this returns.
  const bool has_read = GetOverlappedResult(from_child_.get(), &pending, &got, TRUE) != 0;
  if (has_read) return {got, 0};
  if (timed_out) return {0, ETIMEDOUT};
  return {0, GetLastError() == ERROR_BROKEN_PIPE ? 0 : last_errno()};
}

}  // namespace hmn::platform
