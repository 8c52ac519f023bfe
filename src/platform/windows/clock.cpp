// SPDX-License-Identifier: MIT OR Apache-2.0
#include "platform/clock.hpp"

#include <windows.h>

#include <algorithm>
#include <atomic>

namespace hmn::platform {
namespace {

constexpr uint64_t units_per_second = 10'000'000;         // of FILETIME and interrupt time: 100 ns
constexpr uint64_t unix_epoch = 116'444'736'000'000'000;  // 1970 in them, counted from 1601

using ReadUnits = void(WINAPI*)(PULONGLONG);

// No import library of Windows' older SDKs has it, and neither has Wine 8: nullptr.
ReadUnits find_precise_clock() noexcept {
  const HMODULE kernel = GetModuleHandleW(L"kernelbase.dll");
  const auto found =
      kernel != nullptr ? GetProcAddress(kernel, "QueryUnbiasedInterruptTimePrecise") : nullptr;
  return reinterpret_cast<ReadUnits>(reinterpret_cast<void*>(found));
}

// Atomics instead of a guarded static, whose lock allocates.
ReadUnits precise_clock() noexcept {
  static std::atomic<ReadUnits> known{nullptr};
  static std::atomic<bool> was_sought{false};
  if (!was_sought.load(std::memory_order_acquire)) {
    known.store(find_precise_clock(), std::memory_order_relaxed);
    was_sought.store(true, std::memory_order_release);
  }
  return known.load(std::memory_order_relaxed);
}

}  // namespace

uint64_t monotonic_ns() noexcept {
  const ReadUnits read = precise_clock();
  // Interrupt time without it has steps of up to 16 ms, longer than most readings.
  if (read == nullptr) return continuous_ns();
  ULONGLONG units = 0;
  read(&units);
  return units * (ns_per_second / units_per_second);
}

uint64_t continuous_ns() noexcept {
  LARGE_INTEGER now;
  LARGE_INTEGER per_second;
  QueryPerformanceCounter(&now);
  QueryPerformanceFrequency(&per_second);
  const auto ticks = static_cast<uint64_t>(now.QuadPart);
  const auto frequency = static_cast<uint64_t>(per_second.QuadPart);
  return ticks / frequency * ns_per_second + ticks % frequency * ns_per_second / frequency;
}

uint64_t unix_ns() noexcept {
  FILETIME now;
  GetSystemTimePreciseAsFileTime(&now);
  const uint64_t units = uint64_t{now.dwHighDateTime} << 32 | now.dwLowDateTime;
  return (units - unix_epoch) * (ns_per_second / units_per_second);
}

uint64_t thread_used_ns() noexcept {
  FILETIME created;
  FILETIME ended;
  FILETIME kernel;
  FILETIME user;
  if (!GetThreadTimes(GetCurrentThread(), &created, &ended, &kernel, &user)) return 0;
  const uint64_t units = (uint64_t{kernel.dwHighDateTime} << 32 | kernel.dwLowDateTime) +
                         (uint64_t{user.dwHighDateTime} << 32 | user.dwLowDateTime);
  return units * (ns_per_second / units_per_second);
}

void sleep_ns(uint64_t duration) noexcept {
  constexpr uint64_t longest = 1'000'000'000;  // milliseconds, below INFINITE
  const uint64_t start = monotonic_ns();
  const uint64_t until = later(start, duration);
  for (uint64_t now = start; now < until; now = monotonic_ns()) {
    const uint64_t left = until - now;
    Sleep(static_cast<DWORD>(std::min(left / ns_per_ms + (left % ns_per_ms != 0), longest)));
  }
}

}  // namespace hmn::platform
