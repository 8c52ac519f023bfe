/* SPDX-License-Identifier: MIT OR Apache-2.0 */
#include "faults.h"

#include <errno.h>
#include <stdatomic.h>
#include <stddef.h>

#include "support/allocator.h"

static atomic_int armed;
static atomic_int all_threads;
static atomic_long remaining;
static _Atomic(const char*) failed_function;
static _Thread_local int is_armed_here, pauses, interruptions;
static atomic_long live;

static void start(int kind, long number, int every_thread) {
  atomic_store(&failed_function, NULL);
  atomic_store(&remaining, number);
  atomic_store(&all_threads, every_thread);
  is_armed_here = 1;
  interruptions = 0;
  atomic_store(&armed, kind);
}

void fault_arm(int kind, long number) {
  start(kind, number, 0);
}

void fault_arm_everywhere(int kind, long number) {
  start(kind, number, 1);
}

const char* fault_disarm(void) {
  atomic_store(&armed, FAULT_NONE);
  is_armed_here = 0;
  return atomic_load(&failed_function);
}

static int is_armed(int kind) {
  return atomic_load(&armed) == kind && pauses == 0 && (is_armed_here || atomic_load(&all_threads));
}

int fault_fires(int kind, const char* name) {
  if (!is_armed(kind) || atomic_fetch_sub(&remaining, 1) != 1) return 0;
  atomic_store(&failed_function, name);
  if (fault_fired) fault_fired();
  return 1;
}

int fault_interrupts(void) {
  return is_armed(FAULT_SYSTEM_CALL) && interruptions++ == 0;
}

void fault_pause(void) {
  ++pauses;
}

void fault_resume(void) {
  --pauses;
}

long fault_live_blocks(void) {
  return atomic_load(&live);
}

/* Called by support/posix/allocator.c. */
int allocator_refuses(void) {
  if (!fault_fires(FAULT_ALLOCATION, "malloc")) return 0;
  errno = ENOMEM;
  return 1;
}

void* allocator_count(void* block) {
  if (block != NULL) atomic_fetch_add(&live, 1);
  return block;
}

void allocator_count_move(void) {}

void allocator_forget(const void* block) {
  if (block != NULL) atomic_fetch_sub(&live, 1);
}
