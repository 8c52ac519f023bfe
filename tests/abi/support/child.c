/* SPDX-License-Identifier: MIT OR Apache-2.0 */
#define _GNU_SOURCE
#include "child.h"

#include <signal.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "suite.h"

enum { FAILED = 99, SECONDS = 60 };

void child_failed(const char* file, int line, const char* what) {
  dprintf(STDERR_FILENO, "%s:%d: in a child: %s\n", file, line, what);
  _exit(FAILED);
}

void child_status(const char* file, int line, const char* what, int got, int expected) {
  if (got == expected) return;
  dprintf(STDERR_FILENO, "%s:%d: in a child: %s is %s, not %s\n", file, line, what,
          hmn_status_name(got), hmn_status_name(expected));
  _exit(FAILED);
}

static int wait_for(pid_t child, int* status) {
  const struct timespec moment = {0, 10 * 1000 * 1000};
  for (int i = 0; i < SECONDS * 100; ++i) {
    if (waitpid(child, status, WNOHANG) == child) return 0;
    nanosleep(&moment, NULL);
  }
  kill(child, SIGKILL);
  waitpid(child, status, 0);
  return -1;
}

void assert_child(void (*check)(void* argument), void* argument) {
  fflush(NULL);
  const pid_t child = fork();
  assert_int_not_equal(child, -1);
  if (child == 0) {
    check(argument);
    _exit(0);
  }
  int status = 0;
  if (wait_for(child, &status) != 0) fail_msg("the child hung");
  if (WIFSIGNALED(status)) fail_msg("the child died of signal %d", WTERMSIG(status));
  assert_int_equal(WEXITSTATUS(status), 0);
}
