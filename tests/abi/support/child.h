/* SPDX-License-Identifier: MIT OR Apache-2.0
 *
 * Checks that run in a child process. CHECK prints the line that failed and ends the child.
 */
#ifndef HMN_TESTS_ABI_CHILD_H
#define HMN_TESTS_ABI_CHILD_H

#include <stddef.h>
#include <stdint.h>

#define CHECK(condition)                                            \
  do {                                                              \
    if (!(condition)) child_failed(__FILE__, __LINE__, #condition); \
  } while (0)
#define CHECK_STATUS(call, expected) child_status(__FILE__, __LINE__, #call, (call), (expected))

void child_failed(const char* file, int line, const char* condition);
void child_status(const char* file, int line, const char* call, int status, int expected);

/* Must be called first in `main`: where a system cannot fork, a child is this program started
 * again. */
void child_main(int count, char** words);
uint32_t own_pid(void);

/* Runs the check in a forked child and fails the test unless it comes back within a minute. */
void assert_child(void (*check)(void* argument), void* argument);
/* The same on every system, for a check that needs only a copy of the argument. */
void assert_child_with_copy(void (*check)(void* argument), void* argument, size_t size);
/* The same, and the check prints nothing. */
void assert_silent(void (*check)(void* argument));

typedef struct child child;

/* Starts a child that runs until it is killed, and returns once it has called child_ready. */
child* child_start(void (*run)(void* argument));
void child_ready(void);
uint32_t child_pid(const child* process);
/* Ends the child; its PID stays in use until child_reap. */
void child_kill(child* process);
void child_reap(child* process);

#endif
