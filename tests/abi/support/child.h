/* SPDX-License-Identifier: MIT OR Apache-2.0
 *
 * A check that runs in a process of its own. CHECK leaves with the line that failed.
 */
#ifndef HMN_TESTS_ABI_CHILD_H
#define HMN_TESTS_ABI_CHILD_H

#define CHECK(condition)                                            \
  do {                                                              \
    if (!(condition)) child_failed(__FILE__, __LINE__, #condition); \
  } while (0)
#define CHECK_STATUS(call, expected) child_status(__FILE__, __LINE__, #call, (call), (expected))

void child_failed(const char* file, int line, const char* what);
void child_status(const char* file, int line, const char* what, int got, int expected);

/* Runs the check in a forked child and fails the test unless it comes back within a minute. */
void assert_child(void (*check)(void* argument), void* argument);

#endif
