/* SPDX-License-Identifier: MIT OR Apache-2.0
 *
 * Preloaded into hmn: calls that fail. HMN_TEST_FAILING: names of calls that always fail, such as
 * "ppoll,wait4". HMN_TEST_FAILING_ALLOCATION: the number of the allocation that fails, counted from
 * the start of a command. Programs that hmn starts are left alone. */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <errno.h>
#include <poll.h>
#include <spawn.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/signalfd.h>
#include <sys/wait.h>

extern void* __libc_malloc(size_t size);

static const char* failing = "";
static long allocations_left;
static int is_counting;

__attribute__((constructor)) static void begin(void) {
  if (getenv("HMN_TEST_FAILING") != NULL) failing = strdup(getenv("HMN_TEST_FAILING"));
  if (getenv("HMN_TEST_FAILING_ALLOCATION") != NULL)
    allocations_left = atol(getenv("HMN_TEST_FAILING_ALLOCATION"));
  unsetenv("LD_PRELOAD");
}

static int fails(const char* name) {
  if (strstr(failing, name) == NULL) return 0;
  errno = EPERM;
  return 1;
}

void* malloc(size_t size) {
  if (is_counting && __atomic_fetch_sub(&allocations_left, 1, __ATOMIC_RELAXED) == 1) {
    errno = ENOMEM;
    return NULL;
  }
  return __libc_malloc(size);
}

#define NEXT(type, name) ((type)dlsym(RTLD_NEXT, name))

int posix_spawnp(pid_t* pid, const char* file, const posix_spawn_file_actions_t* actions,
                 const posix_spawnattr_t* attributes, char* const arguments[],
                 char* const variables[]) {
  typedef int (*call)(pid_t*, const char*, const posix_spawn_file_actions_t*,
                      const posix_spawnattr_t*, char* const[], char* const[]);
  const int error =
      NEXT(call, "posix_spawnp")(pid, file, actions, attributes, arguments, variables);
  is_counting = allocations_left > 0;
  return error;
}

int prctl(int option, ...) {
  va_list rest;
  va_start(rest, option);
  unsigned long words[4];
  for (int i = 0; i < 4; ++i) words[i] = va_arg(rest, unsigned long);
  va_end(rest);
  return fails("prctl")
             ? -1
             : NEXT(int (*)(int, ...), "prctl")(option, words[0], words[1], words[2], words[3]);
}

int ppoll(struct pollfd* all, nfds_t count, const struct timespec* limit, const sigset_t* mask) {
  typedef int (*call)(struct pollfd*, nfds_t, const struct timespec*, const sigset_t*);
  return fails("ppoll") ? -1 : NEXT(call, "ppoll")(all, count, limit, mask);
}

int signalfd(int file, const sigset_t* mask, int flags) {
  typedef int (*call)(int, const sigset_t*, int);
  return fails("signalfd") ? -1 : NEXT(call, "signalfd")(file, mask, flags);
}

pid_t wait4(pid_t pid, int* status, int options, struct rusage* usage) {
  typedef pid_t (*call)(pid_t, int*, int, struct rusage*);
  return fails("wait4") ? -1 : NEXT(call, "wait4")(pid, status, options, usage);
}

int waitid(idtype_t type, id_t id, siginfo_t* info, int options) {
  typedef int (*call)(idtype_t, id_t, siginfo_t*, int);
  return fails("waitid") ? -1 : NEXT(call, "waitid")(type, id, info, options);
}
