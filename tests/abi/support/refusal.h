/* SPDX-License-Identifier: MIT OR Apache-2.0
 *
 * What the suites share that refuse allocations.
 */
#ifndef HMN_TESTS_ABI_REFUSAL_H
#define HMN_TESTS_ABI_REFUSAL_H

#include "allocator.h"
#include "suite.h"

/* More than any call allocates. */
enum { MOST = 20000 };
/* Each allocation is a run of the whole call. */
#define MACHINE_FILE "small.json"

/* How many of the patterns ONCE and FROM_THEN_ON threads of the library bear: the C++ runtime of
 * mingw-w64 ends the program where the first exception of a thread finds no memory. And which of
 * the allocations of a first reading are refused: it takes Wine long. */
#ifdef __MINGW32__
enum { WORKERS_BEAR = 1, STEP = 3 };
#else
enum { WORKERS_BEAR = 2, STEP = 1 };
#endif

/* A group's setup: what the C++ runtime makes at its first exception, and keeps, is made here. */
int refuse_first(void** state);

/* Threads that are ending give back what they held in their own time. */
void assert_settled(long before);

/* One turn of a loop. The C library keeps the stacks of threads that have ended, and a driver what
 * it made at its first call: what is made in each of several like turns is lost. */
typedef long (*turn)(void* of, long skip, long times);
long run_without_loss(turn run, void* of, long skip, long times);

/* Without memory for a thread the system reports that a limit was reached. */
void assert_exhausted(hmn_status status);

#endif
