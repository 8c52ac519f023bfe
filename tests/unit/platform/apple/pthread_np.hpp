// SPDX-License-Identifier: MIT OR Apache-2.0
//
// What Apple's pthread.h has beyond others, for files of src/platform/macos that are run elsewhere.
#pragma once

#include <pthread.h>
#include <time.h>

inline int pthread_cond_timedwait_relative_np(pthread_cond_t* condition, pthread_mutex_t* mutex,
                                              const timespec* limit) {
  constexpr long ns_per_second = 1'000'000'000;
  timespec until{};
  clock_gettime(CLOCK_MONOTONIC, &until);
  until.tv_sec += limit->tv_sec;
  until.tv_nsec += limit->tv_nsec;
  if (until.tv_nsec >= ns_per_second) {
    until.tv_nsec -= ns_per_second;
    until.tv_sec += 1;
  }
  return pthread_cond_clockwait(condition, mutex, CLOCK_MONOTONIC, &until);
}
