/* SPDX-License-Identifier: MIT OR Apache-2.0 */
#include "faults.h"

#include <errno.h>
#include <stdatomic.h>
#include <stddef.h>

#include "support/allocator.h"

static atomic_int armed;
static atomic_int is_everywhere;
static atomic_long until;
static _Atomic(const char*) failed;
static _Thread_local int is_here, paused, interrupted;
static atomic_long live;

static void start(int kind, long number, int everywhere) {
  atomic_store(&failed, NULL);
  atomic_store(&until, number);
  atomic_store(&is_everywhere, everywhere);
  is_here = 1;
  interrupted = 0;
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
  is_here = 0;
  return atomic_load(&failed);
}

static int is_armed(int kind) {
  return atomic_load(&armed) == kind && paused == 0 && (is_here || atomic_load(&is_everywhere));
}

int fault_fires(int kind, const char* name) {
  if (!is_armed(kind) || atomic_fetch_sub(&until, 1) != 1) return 0;
  atomic_store(&failed, name);
  if (fault_fired) fault_fired();
  return 1;
}

int fault_interrupts(void) {
  return is_armed(FAULT_SYSTEM_CALL) && interrupted++ == 0;
}

void fault_pause(void) {
  ++paused;
}

void fault_resume(void) {
  --paused;
}

long fault_live_blocks(void) {
  return atomic_load(&live);
}

/* What support/posix/allocator.c asks. */
int allocator_refuses(void) {
  if (!fault_fires(FAULT_ALLOCATION, "malloc")) return 0;
  errno = ENOMEM;
  return 1;
}

void* allocator_count(void* block) {
  if (block != NULL) atomic_fetch_add(&live, 1);
  return block;
}

void allocator_count_moved(void) {}

void allocator_forget(const void* block) {
  if (block != NULL) atomic_fetch_sub(&live, 1);
}
