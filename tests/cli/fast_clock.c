/* SPDX-License-Identifier: MIT OR Apache-2.0
 *
 * Preloaded: a wait takes no time, since the clock jumps to its end: a day of waiting takes as long
 * as the work in it. The library's waits for a condition are left alone, since they end a day ahead
 * of the kernel's clock and are signalled before that. The exception is a sampler's wait for its
 * next slot: there the clock jumps once a thread waits for the sampler for two days, as top's does,
 * or the main thread for longer, so nothing is sampled faster than it is pulled. The main thread's
 * waits for descriptors and for the program's own conditions jump as well; another thread may end
 * them.
 */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <errno.h>
#include <poll.h>
#include <pthread.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdint.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#define SECOND INT64_C(1000000000)
#define HOUR (3600 * SECOND)

static atomic_llong ahead_ns = 24 * HOUR; /* of the system's clocks */

static int real_clock_gettime(clockid_t clock, struct timespec* out) {
  static _Atomic(void*) cached;
  void* next = atomic_load(&cached);
  if (next == NULL) atomic_store(&cached, next = dlsym(RTLD_NEXT, "clock_gettime"));
  return ((int (*)(clockid_t, struct timespec*))next)(clock, out);
}

static int real_ppoll(struct pollfd* all, nfds_t count, const struct timespec* timeout,
                      const sigset_t* mask) {
  static _Atomic(void*) cached;
  void* next = atomic_load(&cached);
  if (next == NULL) atomic_store(&cached, next = dlsym(RTLD_NEXT, "ppoll"));
  return ((int (*)(struct pollfd*, nfds_t, const struct timespec*, const sigset_t*))next)(
      all, count, timeout, mask);
}

/* Idle threads of the library wait without a timeout, too. */
static int is_main_thread(void) {
  return syscall(SYS_gettid) == syscall(SYS_getpid);
}

static int measures_real_time(clockid_t clock) {
  return clock == CLOCK_MONOTONIC || clock == CLOCK_REALTIME || clock == CLOCK_BOOTTIME ||
         clock == CLOCK_MONOTONIC_RAW;
}

int clock_gettime(clockid_t clock, struct timespec* out) {
  const int result = real_clock_gettime(clock, out);
  if (result != 0 || !measures_real_time(clock)) return result;
  const int64_t now = out->tv_sec * SECOND + out->tv_nsec + atomic_load(&ahead_ns);
  out->tv_sec = now / SECOND;
  out->tv_nsec = now % SECOND;
  return 0;
}

int ppoll(struct pollfd* all, nfds_t count, const struct timespec* timeout, const sigset_t* mask) {
  const struct timespec at_once = {0, 0};
  if (timeout == NULL || !is_main_thread()) return real_ppoll(all, count, timeout, mask);
  const int ready = real_ppoll(all, count, &at_once, mask);
  if (ready == 0) atomic_fetch_add(&ahead_ns, timeout->tv_sec * SECOND + timeout->tv_nsec);
  return ready;
}

int poll(struct pollfd* all, nfds_t count, int timeout_ms) {
  const struct timespec timeout = {timeout_ms / 1000, timeout_ms % 1000 * 1000000L};
  return ppoll(all, count, timeout_ms < 0 ? NULL : &timeout, NULL);
}

int clock_nanosleep(clockid_t clock, int flags, const struct timespec* time,
                    struct timespec* remaining) {
  struct timespec now = {0, 0};
  if (!measures_real_time(clock)) return EINVAL;
  if ((flags & TIMER_ABSTIME) != 0) clock_gettime(clock, &now);
  const int64_t wait = (time->tv_sec - now.tv_sec) * SECOND + time->tv_nsec - now.tv_nsec;
  if (wait > 0) atomic_fetch_add(&ahead_ns, wait);
  if (remaining != NULL) *remaining = (struct timespec){0, 0};
  return 0;
}

/* Gives another thread a short time to signal the condition. */
int pthread_cond_clockwait(pthread_cond_t* condition, pthread_mutex_t* mutex, clockid_t clock,
                           const struct timespec* time) {
  static _Atomic(void*) cached;
  void* next = atomic_load(&cached);
  if (next == NULL) atomic_store(&cached, next = dlsym(RTLD_NEXT, "pthread_cond_clockwait"));
  struct timespec now, short_wait = {0, 20000};
  clock_gettime(clock, &now);
  const int64_t wait = (time->tv_sec - now.tv_sec) * SECOND + time->tv_nsec - now.tv_nsec;
  real_clock_gettime(clock, &now);
  if (is_main_thread() && wait > 0) {
    short_wait.tv_sec = now.tv_sec + (now.tv_nsec + short_wait.tv_nsec) / SECOND;
    short_wait.tv_nsec = (now.tv_nsec + short_wait.tv_nsec) % SECOND;
    time = &short_wait;
  }
  const int result =
      ((int (*)(pthread_cond_t*, pthread_mutex_t*, clockid_t, const struct timespec*))next)(
          condition, mutex, clock, time);
  if (time == &short_wait && result == ETIMEDOUT) atomic_fetch_add(&ahead_ns, wait);
  return result;
}

/* The condition that a thread waits for while the clock may jump. */
static _Atomic(pthread_cond_t*) awaited;

int pthread_cond_broadcast(pthread_cond_t* condition) {
  static _Atomic(void*) cached;
  void* next = atomic_load(&cached);
  if (next == NULL) atomic_store(&cached, next = dlsym(RTLD_NEXT, "pthread_cond_broadcast"));
  if (atomic_load(&awaited) == condition) atomic_store(&awaited, NULL);
  return ((int (*)(pthread_cond_t*))next)(condition);
}

static int real_wait(pthread_cond_t* condition, pthread_mutex_t* mutex,
                     const struct timespec* time) {
  static _Atomic(void*) cached;
  void* next = atomic_load(&cached);
  if (next == NULL) atomic_store(&cached, next = dlsym(RTLD_NEXT, "pthread_cond_timedwait"));
  return ((int (*)(pthread_cond_t*, pthread_mutex_t*, const struct timespec*))next)(condition,
                                                                                    mutex, time);
}

/* Checks now and then whether a thread waits for the condition. */
static int jump_when_awaited(pthread_cond_t* condition, pthread_mutex_t* mutex, int64_t left_ns) {
  while (atomic_load(&awaited) != condition) {
    struct timespec time;
    real_clock_gettime(CLOCK_MONOTONIC, &time);
    const int64_t end_ns = time.tv_sec * SECOND + time.tv_nsec + 100000;
    time = (struct timespec){end_ns / SECOND, end_ns % SECOND};
    if (real_wait(condition, mutex, &time) == 0) return 0;
  }
  atomic_fetch_add(&ahead_ns, left_ns);
  return ETIMEDOUT;
}

int pthread_cond_timedwait(pthread_cond_t* condition, pthread_mutex_t* mutex,
                           const struct timespec* time) {
  struct timespec now = {0, 0};
  clock_gettime(CLOCK_MONOTONIC, &now);
  const int64_t left_ns = (time->tv_sec - now.tv_sec) * SECOND + time->tv_nsec - now.tv_nsec;
  if (left_ns <= 0) return ETIMEDOUT;
  if (left_ns > 2 * SECOND && left_ns < 2 * HOUR)
    return jump_when_awaited(condition, mutex, left_ns);
  if (left_ns >= 36 * HOUR && (is_main_thread() || left_ns < 72 * HOUR))
    atomic_store(&awaited, condition);
  return real_wait(condition, mutex, time);
}
