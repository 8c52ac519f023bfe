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
  const auto function =
      kernel != nullptr ? GetProcAddress(kernel, "QueryUnbiasedInterruptTimePrecise") : nullptr;
  return reinterpret_cast<ReadUnits>(reinterpret_cast<void*>(function));
}

// Atomics instead of a guarded static, whose lock allocates.
ReadUnits precise_clock() noexcept {
  static std::atomic<ReadUnits> cached{nullptr};
  static std::atomic<bool> was_searched{false};
  if (!was_searched.load(std::memory_order_acquire)) {
    cached.store(find_precise_clock(), std::memory_order_relaxed);
    was_searched.store(true, std::memory_order_release);
  }
  return cached.load(std::memory_order_relaxed);
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
  LARGE_INTEGER rate;
  QueryPerformanceCounter(&now);
  QueryPerformanceFrequency(&rate);
  const auto ticks = static_cast<uint64_t>(now.QuadPart);
  const auto frequency = static_cast<uint64_t>(rate.QuadPart);
  return ticks / frequency * ns_per_second + ticks % frequency * ns_per_second / frequency;
}

uint64_t unix_ns() noexcept {
  FILETIME now;
  GetSystemTimePreciseAsFileTime(&now);
  const uint64_t units = uint64_t{now.dwHighDateTime} << 32 | now.dwLowDateTime;
  return (units - unix_epoch) * (ns_per_second / units_per_second);
}

uint64_t thread_cpu_ns() noexcept {
  FILETIME creation_time;
  FILETIME exit_time;
  FILETIME kernel_time;
  FILETIME user_time;
  if (!GetThreadTimes(GetCurrentThread(), &creation_time, &exit_time, &kernel_time, &user_time))
    return 0;
  const uint64_t units = (uint64_t{kernel_time.dwHighDateTime} << 32 | kernel_time.dwLowDateTime) +
                         (uint64_t{user_time.dwHighDateTime} << 32 | user_time.dwLowDateTime);
  return units * (ns_per_second / units_per_second);
}

void sleep_ns(uint64_t duration) noexcept {
  constexpr uint64_t max_wait = 1'000'000'000;  // milliseconds, below INFINITE
  const uint64_t start = monotonic_ns();
  const uint64_t deadline = add_duration(start, duration);
  for (uint64_t now = start; now < deadline; now = monotonic_ns()) {
    const uint64_t left = deadline - now;
    Sleep(static_cast<DWORD>(std::min(left / ns_per_ms + (left % ns_per_ms != 0), max_wait)));
  }
}

}  // namespace hmn::platform
