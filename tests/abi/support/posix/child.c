/* SPDX-License-Identifier: MIT OR Apache-2.0 */
#define _GNU_SOURCE
#include "support/child.h"

#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>

#include "support/clock.h"
#include "support/suite.h"

enum { FAILED = 99 };

void child_failed(const char* file, int line, const char* condition) {
  dprintf(STDERR_FILENO, "%s:%d: in a child: %s\n", file, line, condition);
  _exit(FAILED);
}

void child_status(const char* file, int line, const char* call, int status, int expected) {
  if (status == expected) return;
  dprintf(STDERR_FILENO, "%s:%d: in a child: %s is %s, not %s\n", file, line, call,
          hmn_status_name(status), hmn_status_name(expected));
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
  for (const int64_t start = now_ms(); now_ms() - start < PATIENT_MS; sleep_ms(10)) {
    if (waitpid(process, status, WNOHANG) == process) return 0;
  }
  kill(process, SIGKILL);
  waitpid(process, status, 0);
  return -1;
}

/* Returns the exit status. Output goes to the file, if there is one. */
static int run_check(void (*check)(void* argument), void* argument, FILE* output) {
  fflush(NULL);
  const pid_t process = fork();
  assert_int_not_equal(process, -1);
  if (process == 0) {
    if (output != NULL) {
      dup2(fileno(output), STDOUT_FILENO);
      dup2(fileno(output), STDERR_FILENO);
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
  assert_int_equal(run_check(check, argument, NULL), 0);
}

void assert_child_with_copy(void (*check)(void* argument), void* argument, size_t size) {
  (void)size;
  assert_child(check, argument);
}

void assert_silent(void (*check)(void* argument)) {
  char text[1024] = "";
  FILE* output = tmpfile();
  assert_non_null(output);
  const int outcome = run_check(check, NULL, output);
  rewind(output);
  text[fread(text, 1, sizeof text - 1, output)] = 0;
  fclose(output);
  assert_string_equal(text, "");
  assert_int_equal(outcome, 0);
}

struct child {
  pid_t process;
  int ready_read_end;
};

static int ready_write_end = -1;

child* child_start(void (*run)(void* argument)) {
  int pipe_ends[2];
  char byte;
  child* process = malloc(sizeof *process);
  assert_non_null(process);
  assert_int_equal(pipe(pipe_ends), 0);
  fflush(NULL);
  process->process = fork();
  if (process->process == 0) {
    close(pipe_ends[0]);
    ready_write_end = pipe_ends[1];
    run(NULL);
    _exit(FAILED);
  }
  close(pipe_ends[1]);
  process->ready_read_end = pipe_ends[0];
  assert_int_equal(read(process->ready_read_end, &byte, 1), 1);
  return process;
}

void child_ready(void) {
  CHECK(write(ready_write_end, "!", 1) == 1);
}

uint32_t child_pid(const child* process) {
  return (uint32_t)process->process;
}

void child_kill(child* process) {
  siginfo_t info;
  kill(process->process, SIGKILL);
  assert_int_equal(waitid(P_PID, (id_t)process->process, &info, WEXITED | WNOWAIT), 0);
}

void child_reap(child* process) {
  waitpid(process->process, NULL, 0);
  close(process->ready_read_end);
  free(process);
}
