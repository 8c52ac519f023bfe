/* SPDX-License-Identifier: MIT OR Apache-2.0 */
#define _POSIX_C_SOURCE 200809L
#include "support/clock.h"

#include <time.h>

static uint64_t read_clock_ns(clockid_t clock) {
  struct timespec now;
  clock_gettime(clock, &now);
  return (uint64_t)now.tv_sec * 1000000000u + (uint64_t)now.tv_nsec;
}

uint64_t now_ns(void) {
  return read_clock_ns(CLOCK_MONOTONIC);
}

uint64_t unix_now_ns(void) {
  return read_clock_ns(CLOCK_REALTIME);
}

int64_t now_ms(void) {
  return (int64_t)(now_ns() / 1000000);
}

void sleep_ms(int64_t ms) {
  const struct timespec time = {(time_t)(ms / 1000), (long)(ms % 1000 * 1000000)};
  nanosleep(&time, NULL);
}
