/* SPDX-License-Identifier: MIT OR Apache-2.0 */
#define _GNU_SOURCE
#include "support/child.h"

#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>

#include "support/clock.h"
#include "support/suite.h"

enum { FAILED = 99 };

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

void child_main(int count, char** words) {
  (void)count;
  (void)words;
}

uint32_t own_pid(void) {
  return (uint32_t)getpid();
}

static int wait_for(pid_t process, int* status) {
  for (const int64_t begun = now_ms(); now_ms() - begun < PATIENT_MS; sleep_ms(10)) {
    if (waitpid(process, status, WNOHANG) == process) return 0;
  }
  kill(process, SIGKILL);
  waitpid(process, status, 0);
  return -1;
}

/* What it prints goes to the file, where there is one. */
static int outcome_of(void (*check)(void* argument), void* argument, FILE* printed) {
  fflush(NULL);
  const pid_t process = fork();
  assert_int_not_equal(process, -1);
  if (process == 0) {
    if (printed != NULL) {
      dup2(fileno(printed), STDOUT_FILENO);
      dup2(fileno(printed), STDERR_FILENO);
    }
    check(argument);
    fflush(NULL);
    _exit(0);
  }
  int status = 0;
  if (wait_for(process, &status) != 0) fail_msg("the child hung");
  if (WIFSIGNALED(status)) fail_msg("the child died of signal %d", WTERMSIG(status));
  return WEXITSTATUS(status);
}

void assert_child(void (*check)(void* argument), void* argument) {
  assert_int_equal(outcome_of(check, argument, NULL), 0);
}

void assert_apart(void (*check)(void* argument), void* argument, size_t size) {
  (void)size;
  assert_child(check, argument);
}

void assert_silent(void (*check)(void* argument)) {
  char text[1024] = "";
  FILE* printed = tmpfile();
  assert_non_null(printed);
  const int outcome = outcome_of(check, NULL, printed);
  rewind(printed);
  text[fread(text, 1, sizeof text - 1, printed)] = 0;
  fclose(printed);
  assert_string_equal(text, "");
  assert_int_equal(outcome, 0);
}

struct child {
  pid_t process;
  int news;
};

static int news_of_child = -1;

child* child_start(void (*life)(void* argument)) {
  int ends[2];
  char byte;
  child* started = malloc(sizeof *started);
  assert_non_null(started);
  assert_int_equal(pipe(ends), 0);
  fflush(NULL);
  started->process = fork();
  if (started->process == 0) {
    close(ends[0]);
    news_of_child = ends[1];
    life(NULL);
    _exit(FAILED);
  }
  close(ends[1]);
  started->news = ends[0];
  assert_int_equal(read(started->news, &byte, 1), 1);
  return started;
}

void child_ready(void) {
  CHECK(write(news_of_child, "!", 1) == 1);
}

uint32_t child_pid(const child* started) {
  return (uint32_t)started->process;
}

void child_kill(child* started) {
  siginfo_t info;
  kill(started->process, SIGKILL);
  assert_int_equal(waitid(P_PID, (id_t)started->process, &info, WEXITED | WNOWAIT), 0);
}

void child_let_go(child* started) {
  waitpid(started->process, NULL, 0);
  close(started->news);
  free(started);
}
