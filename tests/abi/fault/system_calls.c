/* SPDX-License-Identifier: MIT OR Apache-2.0
 *
 * The C library's wrappers of system calls that libhypomnesis imports, under their plain names and
 * those for 64-bit offsets and _FORTIFY_SOURCE. Each fails as on a machine that has run out of
 * something. Calls within the C library are not seen.
 */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <errno.h>
#include <stdatomic.h>
#include <stddef.h>
#include <sys/syscall.h>
#include <time.h>

#include "faults.h"

#define INTERPOSED __attribute__((visibility("default")))

/* Integers and pointers, as the calling conventions of Linux pass them to every such function; the
 * longest takes seven. */
#define PARAMETERS long a, long b, long c, long d, long e, long f, long g
#define ARGUMENTS a, b, c, d, e, f, g
typedef long (*any_function)(PARAMETERS);

static any_function real(const char* name, _Atomic(any_function)* cached) {
  any_function function = atomic_load(cached);
  if (function != NULL) return function;
  fault_pause();
  *(void**)&function = dlsym(RTLD_NEXT, name);
  fault_resume();
  atomic_store(cached, function);
  return function;
}

static long fail_with(int error) {
  errno = error;
  return -1;
}

#define WRAPPER(name, failure)                                 \
  INTERPOSED long name(PARAMETERS);                            \
  long name(PARAMETERS) {                                      \
    static _Atomic(any_function) cached;                       \
    const any_function function = real(#name, &cached);        \
    if (fault_fires(FAULT_SYSTEM_CALL, #name)) return failure; \
    return function(ARGUMENTS);                                \
  }
#define FAILING(name, error) WRAPPER(name, fail_with(error))
#define RETURNING(name, error) WRAPPER(name, error)

FAILING(open, EMFILE)
FAILING(open64, EMFILE)
FAILING(__open_2, EMFILE)
FAILING(__open64_2, EMFILE)
FAILING(openat, EMFILE)
FAILING(openat64, EMFILE)
FAILING(__openat_2, EMFILE)
FAILING(__openat64_2, EMFILE)
FAILING(read, EIO)
FAILING(__read_chk, EIO)
FAILING(pread, EIO)
FAILING(pread64, EIO)
FAILING(__pread_chk, EIO)
FAILING(__pread64_chk, EIO)
FAILING(write, EIO)
FAILING(fstat, ENOMEM)
FAILING(fstat64, ENOMEM)
FAILING(stat, ENOMEM)
FAILING(stat64, ENOMEM)
FAILING(statx, ENOMEM)
FAILING(faccessat, ENOMEM)
FAILING(readlinkat, ENOMEM)
FAILING(__readlinkat_chk, ENOMEM)
FAILING(mmap, ENOMEM)
FAILING(mmap64, ENOMEM)
FAILING(mprotect, ENOMEM)
FAILING(madvise, EINVAL)
FAILING(ioctl, EIO)
FAILING(fcntl64, EMFILE)
FAILING(pipe2, EMFILE)
FAILING(eventfd, EMFILE)
FAILING(ppoll, ENOMEM)
FAILING(__ppoll_chk, ENOMEM)
FAILING(clone, EAGAIN)
FAILING(waitid, ECHILD)
FAILING(waitpid, ECHILD)
FAILING(uname, EFAULT)
RETURNING(posix_spawn, EAGAIN)
RETURNING(pthread_create, EAGAIN)

/* The clock that a test sets forward, and the two functions that wait until a time of it. */
static atomic_long advance_seconds;

void fault_advance_clocks(long seconds) {
  atomic_fetch_add(&advance_seconds, seconds);
}

static struct timespec to_system_time(const struct timespec* time) {
  struct timespec system_time = *time;
  system_time.tv_sec -= atomic_load(&advance_seconds);
  return system_time;
}

INTERPOSED int clock_gettime(clockid_t clock, struct timespec* out) {
  static _Atomic(any_function) cached;
  const int status = (int)real("clock_gettime", &cached)(clock, (long)out, 0, 0, 0, 0, 0);
  out->tv_sec += atomic_load(&advance_seconds);
  return status;
}

INTERPOSED int clock_nanosleep(clockid_t clock, int flags, const struct timespec* time,
                               struct timespec* remaining) {
  static _Atomic(any_function) cached;
  const struct timespec system_time = (flags & TIMER_ABSTIME) != 0 ? to_system_time(time) : *time;
  return (int)real("clock_nanosleep", &cached)(clock, flags, (long)&system_time, (long)remaining, 0,
                                               0, 0);
}

INTERPOSED int pthread_cond_timedwait(void*, void*, const struct timespec*);
int pthread_cond_timedwait(void* condition, void* mutex, const struct timespec* time) {
  static _Atomic(any_function) cached;
  const struct timespec system_time = to_system_time(time);
  if (fault_interrupts()) return 0; /* as if it had been woken */
  return (int)real("pthread_cond_timedwait", &cached)((long)condition, (long)mutex,
                                                      (long)&system_time, 0, 0, 0, 0);
}

INTERPOSED long syscall(PARAMETERS);
long syscall(PARAMETERS) {
  static _Atomic(any_function) cached;
  const any_function function = real("syscall", &cached);
  if (a != SYS_futex && fault_fires(FAULT_SYSTEM_CALL, "syscall")) return fail_with(EIO);
  return function(ARGUMENTS);
}
