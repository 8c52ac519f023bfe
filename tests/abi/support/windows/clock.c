/* SPDX-License-Identifier: MIT OR Apache-2.0 */
#include "support/clock.h"

#include <string.h>
#include <windows.h>

/* Counted in steps of 100 ns, without the time spent suspended. */
uint64_t now_ns(void) {
  typedef void(WINAPI * read_steps)(PULONGLONG);
  const HMODULE kernel = GetModuleHandleW(L"kernelbase.dll");
  const FARPROC function = GetProcAddress(kernel, "QueryUnbiasedInterruptTimePrecise");
  if (function == NULL) { /* Wine 8 */
    LARGE_INTEGER now, per_second;
    QueryPerformanceCounter(&now);
    QueryPerformanceFrequency(&per_second);
    const uint64_t ticks = (uint64_t)now.QuadPart, frequency = (uint64_t)per_second.QuadPart;
    return ticks / frequency * 1000000000u + ticks % frequency * 1000000000u / frequency;
  }
  ULONGLONG steps = 0;
  read_steps precise;
  memcpy(&precise, &function, sizeof precise);
  precise(&steps);
  return steps * 100;
}

/* Counted in steps of 100 ns since 1601. */
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
