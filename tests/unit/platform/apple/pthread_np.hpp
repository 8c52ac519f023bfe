// SPDX-License-Identifier: MIT OR Apache-2.0
//
// Extensions of Apple's pthread.h, for files of src/platform/macos that run elsewhere.
#pragma once

#include <pthread.h>
#include <time.h>

inline int pthread_cond_timedwait_relative_np(pthread_cond_t* condition, pthread_mutex_t* mutex,
                                              const timespec* limit) {
  constexpr long ns_per_second = 1'000'000'000;
  timespec deadline{};
  clock_gettime(CLOCK_MONOTONIC, &deadline);
  deadline.tv_sec += limit->tv_sec;
  deadline.tv_nsec += limit->tv_nsec;
  if (deadline.tv_nsec >= ns_per_second) {
    deadline.tv_nsec -= ns_per_second;
    deadline.tv_sec += 1;
  }
  return pthread_cond_clockwait(condition, mutex, CLOCK_MONOTONIC, &deadline);
}
