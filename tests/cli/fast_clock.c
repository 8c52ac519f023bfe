/* SPDX-License-Identifier: MIT OR Apache-2.0
 *
 * Preloaded: time does not pass while a program waits for it, it jumps to what is waited for. A day
 * of waiting takes as long as the work in it. Waits for a word to change are left alone, since
 * their ends lie a day ahead of the kernel's clock and what they wait for comes first, but for
 * those of a sampler for its next slot (the word is 0): there time jumps once another thread rests,
 * which waits for many hours, or as the program's first thread without an end, and has seen all
 * that was announced to it. Nothing is sampled faster than pulled. Descriptors and conditions are
 * waited for by the first thread in this way; another thread looks for what ends those waits. */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <errno.h>
#include <linux/futex.h>
#include <poll.h>
#include <pthread.h>
#include <signal.h>
#include <stdarg.h>
#include <stdatomic.h>
#include <stdint.h>
#include <sys/syscall.h>
#include <time.h>

#define SECOND INT64_C(1000000000)
#define HOUR (3600 * SECOND)

static atomic_llong ahead_ns = 24 * HOUR; /* of the system's clocks */

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

static long real_syscall(long number, const long* with) {
  static _Atomic(void*) found;
  void* next = atomic_load(&found);
  if (next == NULL) atomic_store(&found, next = dlsym(RTLD_NEXT, "syscall"));
  return ((long (*)(long, ...))next)(number, with[0], with[1], with[2], with[3], with[4], with[5]);
}

/* Threads of the library that have nothing to do wait without an end, too. */
static int is_of_the_program(void) {
  const long none[6] = {0};
  return real_syscall(SYS_gettid, none) == real_syscall(SYS_getpid, none);
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
  if (timeout == NULL || !is_of_the_program()) return real_ppoll(all, count, timeout, mask);
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

/* Gives the thread that looks for the condition a moment. */
int pthread_cond_clockwait(pthread_cond_t* condition, pthread_mutex_t* mutex, clockid_t clock,
                           const struct timespec* time) {
  static _Atomic(void*) found;
  void* next = atomic_load(&found);
  if (next == NULL) atomic_store(&found, next = dlsym(RTLD_NEXT, "pthread_cond_clockwait"));
  struct timespec now, moment = {0, 20000};
  clock_gettime(clock, &now);
  const int64_t wait = (time->tv_sec - now.tv_sec) * SECOND + time->tv_nsec - now.tv_nsec;
  real_clock_gettime(clock, &now);
  if (is_of_the_program() && wait > 0) {
    moment.tv_sec = now.tv_sec + (now.tv_nsec + moment.tv_nsec) / SECOND;
    moment.tv_nsec = (now.tv_nsec + moment.tv_nsec) % SECOND;
    time = &moment;
  }
  const int result =
      ((int (*)(pthread_cond_t*, pthread_mutex_t*, clockid_t, const struct timespec*))next)(
          condition, mutex, clock, time);
  if (time == &moment && result == ETIMEDOUT) atomic_fetch_add(&ahead_ns, wait);
  return result;
}

typedef const _Atomic uint32_t* word;

/* Of the thread that rests, and what it saw there; the word last. */
static _Atomic uint32_t seen_at_rest;
static _Atomic(word) rests_on;

static int somebody_rests(void) {
  const word on = atomic_load(&rests_on);
  return on != NULL && atomic_load(on) == atomic_load(&seen_at_rest);
}

static long jump_when_all_is_seen(word at, int64_t left_ns) {
  const struct timespec moment = {0, 100000};
  while (!somebody_rests()) {
    if (atomic_load(at) != 0) return errno = EAGAIN, -1;
    nanosleep(&moment, NULL);
  }
  atomic_fetch_add(&ahead_ns, left_ns);
  return errno = ETIMEDOUT, -1;
}

static int64_t left_until(const struct timespec* time) {
  struct timespec now = {0, 0};
  clock_gettime(CLOCK_MONOTONIC, &now);
  return (time->tv_sec - now.tv_sec) * SECOND + time->tv_nsec - now.tv_nsec;
}

static long rest(const long* with) {
  atomic_store(&seen_at_rest, (uint32_t)with[2]);
  atomic_store(&rests_on, (word)with[0]);
  const long result = real_syscall(SYS_futex, with);
  const int error = errno;
  atomic_store(&rests_on, NULL);
  errno = error;
  return result;
}

long syscall(long number, ...) {
  long with[6];
  va_list list;
  va_start(list, number);
  for (int i = 0; i < 6; ++i) with[i] = va_arg(list, long);
  va_end(list);
  if (number != SYS_futex || (with[1] & FUTEX_CMD_MASK) != FUTEX_WAIT_BITSET)
    return real_syscall(number, with);
  if (with[3] == 0) return is_of_the_program() ? rest(with) : real_syscall(number, with);
  const word at = (word)with[0];
  const uint32_t expected = (uint32_t)with[2];
  const int64_t left_ns = left_until((const struct timespec*)with[3]);
  if (left_ns <= 0) return errno = atomic_load(at) == expected ? ETIMEDOUT : EAGAIN, -1;
  if (left_ns > 2 * SECOND && left_ns < 2 * HOUR && expected == 0)
    return jump_when_all_is_seen(at, left_ns);
  return left_ns < 36 * HOUR ? real_syscall(number, with) : rest(with);
}
