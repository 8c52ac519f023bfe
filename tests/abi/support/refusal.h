/* SPDX-License-Identifier: MIT OR Apache-2.0
 *
 * Shared by the suites that refuse allocations.
 */
#ifndef HMN_TESTS_ABI_REFUSAL_H
#define HMN_TESTS_ABI_REFUSAL_H

#include "allocator.h"
#include "suite.h"

/* More than any call allocates. */
enum { MAX_ALLOCATIONS = 20000 };
/* Small, since the whole call is run once for each of its allocations. */
#define MACHINE_FILE "small.json"

/* WORKER_PATTERNS: how many of the patterns ONCE and FROM_THEN_ON are used with the library's
 * threads. The C++ runtime of mingw-w64 ends the program if a thread's first exception finds no
 * memory. STEP: the distance between the refused allocations of a first reading; Wine is slow. */
#ifdef __MINGW32__
enum { WORKER_PATTERNS = 1, STEP = 3 };
#else
enum { WORKER_PATTERNS = 2, STEP = 1 };
#endif

/* Group setup: throws the first exception, whose allocations the C++ runtime keeps. */
int throw_first_exception(void** state);

/* Waits for the memory of threads that are still ending. */
void assert_no_leak(long before);

/* One run of a loop; returns the number of refused allocations. The C library keeps the stacks of
 * ended threads, and a driver the allocations of its first call: only memory that each of several
 * equal runs allocates and keeps is a leak. */
typedef long (*attempt)(void* argument, long skip, long times);
long run_without_leak(attempt run, void* argument, long skip, long times);

/* HMN_E_NO_MEMORY, or HMN_E_LIMIT, which the system reports if it has no memory for a thread. */
void assert_exhausted(hmn_status status);

#endif
