/* SPDX-License-Identifier: MIT OR Apache-2.0 */
#include "support/clock.h"

#include <windows.h>

uint64_t now_ns(void) {
  LARGE_INTEGER ticks, per_second;
  QueryPerformanceCounter(&ticks);
  QueryPerformanceFrequency(&per_second);
  const uint64_t rate = (uint64_t)per_second.QuadPart, count = (uint64_t)ticks.QuadPart;
  return count / rate * 1000000000u + count % rate * 1000000000u / rate;
}

/* Steps of 100 ns since 1601. */
uint64_t unix_now_ns(void) {
  FILETIME now;
  GetSystemTimePreciseAsFileTime(&now);
  const uint64_t steps = (uint64_t)now.dwHighDateTime << 32 | now.dwLowDateTime;
  return (steps - UINT64_C(116444736000000000)) * 100;
}

int64_t now_ms(void) {
  return (int64_t)(now_ns() / 1000000);
}

void sleep_ms(int64_t ms) {
  Sleep((DWORD)ms);
}
