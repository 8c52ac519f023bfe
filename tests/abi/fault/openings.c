/* SPDX-License-Identifier: MIT OR Apache-2.0
 *
 * The C library's functions that open a descriptor, as far as libhypomnesis calls them. Descriptors
 * that the fake drivers and the test open are not seen.
 */
#define _GNU_SOURCE
#include "openings.h"

#include <asm/fcntl.h> /* without the functions, which are defined here */
#include <dlfcn.h>
#include <stdatomic.h>
#include <stddef.h>
#include <string.h>
#include <sys/syscall.h>

#define INTERPOSED __attribute__((visibility("default")))

/* As in system_calls.c. */
#define PARAMETERS long a, long b, long c, long d, long e, long f, long g
#define ARGUMENTS a, b, c, d, e, f, g
typedef long (*any_function)(PARAMETERS);

static atomic_long open_count;
static _Atomic(const char*) inherited;

long openings_count(void) {
  return atomic_load(&open_count);
}

const char* openings_inherited(void) {
  return atomic_load(&inherited);
}

static any_function real(const char* name, _Atomic(any_function)* cached) {
  any_function function = atomic_load(cached);
  if (function != NULL) return function;
  *(void**)&function = dlsym(RTLD_NEXT, name);
  atomic_store(cached, function);
  return function;
}

static void record_opening(const char* name, const void* caller, int closes_on_exec) {
  Dl_info object;
  if (dladdr(caller, &object) == 0 || strstr(object.dli_fname, "libhypomnesis") == NULL) return;
  atomic_fetch_add(&open_count, 1);
  if (!closes_on_exec) atomic_store(&inherited, name);
}

#define OPENING(name, closes_on_exec)                                     \
  INTERPOSED long name(PARAMETERS);                                       \
  long name(PARAMETERS) {                                                 \
    static _Atomic(any_function) cached;                                  \
    record_opening(#name, __builtin_return_address(0), (closes_on_exec)); \
    return real(#name, &cached)(ARGUMENTS);                               \
  }

OPENING(open, (b & O_CLOEXEC) != 0)
OPENING(open64, (b & O_CLOEXEC) != 0)
OPENING(__open_2, (b & O_CLOEXEC) != 0)
OPENING(__open64_2, (b & O_CLOEXEC) != 0)
OPENING(openat, (c & O_CLOEXEC) != 0)
OPENING(openat64, (c & O_CLOEXEC) != 0)
OPENING(__openat_2, (c & O_CLOEXEC) != 0)
OPENING(__openat64_2, (c & O_CLOEXEC) != 0)
OPENING(fopen, strchr((const char*)b, 'e') != NULL)
OPENING(fopen64, strchr((const char*)b, 'e') != NULL)
OPENING(pipe, 0)
OPENING(pipe2, (b & O_CLOEXEC) != 0)
OPENING(eventfd, (b & O_CLOEXEC) != 0)
OPENING(epoll_create1, (a & O_CLOEXEC) != 0)
OPENING(socket, (b & O_CLOEXEC) != 0)
OPENING(dup, 0)
OPENING(dup3, (c & O_CLOEXEC) != 0)
OPENING(fcntl, b != F_DUPFD)
OPENING(fcntl64, b != F_DUPFD)
/* The child gets its standard streams by dup3 before it executes a tool. */
OPENING(syscall, a != SYS_dup3 || c <= 2 || (d & O_CLOEXEC) != 0)
