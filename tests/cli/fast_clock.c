/* SPDX-License-Identifier: MIT OR Apache-2.0
 *
 * Preloaded: time does not pass while a program waits for it, it jumps to what is waited for. A day
 * of waiting takes as long as the work in it. Waits on a condition are left alone: their ends lie
 * ahead, and what they wait for comes first. */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <errno.h>
#include <poll.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdint.h>
#include <time.h>

#define SECOND INT64_C(1000000000)

static atomic_llong ahead_ns; /* of the system's clocks */

static int real_clock_gettime(clockid_t clock, struct timespec* out) {
  static _Atomic(void*) found;
  void* next = atomic_load(&found);
  if (next == NULL) atomic_store(&found, next = dlsym(RTLD_NEXT, "clock_gettime"));
  return ((int (*)(clockid_t, struct timespec*))next)(clock, out);
}

static int real_ppoll(struct pollfd* all, nfds_t count, const struct timespec* timeout,
                      const sigset_t* mask) {
  static _Atomic(void*) found;
  void* next = atomic_load(&found);
  if (next == NULL) atomic_store(&found, next = dlsym(RTLD_NEXT, "ppoll"));
  return ((int (*)(struct pollfd*, nfds_t, const struct timespec*, const sigset_t*))next)(
      all, count, timeout, mask);
}

static int is_of_the_wall(clockid_t clock) {
  return clock == CLOCK_MONOTONIC || clock == CLOCK_REALTIME || clock == CLOCK_BOOTTIME ||
         clock == CLOCK_MONOTONIC_RAW;
}

int clock_gettime(clockid_t clock, struct timespec* out) {
  const int result = real_clock_gettime(clock, out);
  if (result != 0 || !is_of_the_wall(clock)) return result;
  const int64_t now = out->tv_sec * SECOND + out->tv_nsec + atomic_load(&ahead_ns);
  out->tv_sec = now / SECOND;
  out->tv_nsec = now % SECOND;
  return 0;
}

int ppoll(struct pollfd* all, nfds_t count, const struct timespec* timeout, const sigset_t* mask) {
  const struct timespec at_once = {0, 0};
  if (timeout == NULL) return real_ppoll(all, count, timeout, mask);
  const int ready = real_ppoll(all, count, &at_once, mask);
  if (ready == 0) atomic_fetch_add(&ahead_ns, timeout->tv_sec * SECOND + timeout->tv_nsec);
  return ready;
}

int poll(struct pollfd* all, nfds_t count, int timeout_ms) {
  const struct timespec timeout = {timeout_ms / 1000, timeout_ms % 1000 * 1000000L};
  return ppoll(all, count, timeout_ms < 0 ? NULL : &timeout, NULL);
}

int clock_nanosleep(clockid_t clock, int flags, const struct timespec* time,
                    struct timespec* left) {
  struct timespec now = {0, 0};
  if (!is_of_the_wall(clock)) return EINVAL;
  if ((flags & TIMER_ABSTIME) != 0) clock_gettime(clock, &now);
  const int64_t wait = (time->tv_sec - now.tv_sec) * SECOND + time->tv_nsec - now.tv_nsec;
  if (wait > 0) atomic_fetch_add(&ahead_ns, wait);
  if (left != NULL) *left = (struct timespec){0, 0};
  return 0;
}
