/* SPDX-License-Identifier: MIT OR Apache-2.0
 *
 * A check that runs in a process of its own. CHECK leaves with the line that failed.
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

void child_failed(const char* file, int line, const char* what);
void child_status(const char* file, int line, const char* what, int got, int expected);

/* Where a system cannot fork, a child is this program started again: to be called first in `main`. */
void child_main(int count, char** words);
uint32_t own_pid(void);

/* Runs the check in a forked child and fails the test unless it comes back within a minute. */
void assert_child(void (*check)(void* argument), void* argument);
/* The same of a child that needs nothing but a copy of the argument, on every system. */
void assert_apart(void (*check)(void* argument), void* argument, size_t size);
/* And that prints nothing. */
void assert_silent(void (*check)(void* argument));

typedef struct child child;

/* One that goes on until it is killed; returned once it has reported that it is ready. */
child* child_start(void (*life)(void* argument));
void child_ready(void);
uint32_t child_pid(const child* started);
/* It has ended then, and its number stays taken until it is let go. */
void child_kill(child* started);
void child_let_go(child* started);

#endif
