/* SPDX-License-Identifier: MIT OR Apache-2.0 */
#include "faults.h"

#include <errno.h>
#include <fcntl.h>
#include <stdatomic.h>
#include <stddef.h>

#include "support/allocator.h"

enum { MOST_DESCRIPTORS = 256 };

static _Thread_local int armed, paused, interrupted;
static _Thread_local long until;
static _Thread_local const char* failed;
static atomic_long live;

void fault_arm(int kind, long number) {
  failed = NULL;
  interrupted = 0;
  until = number;
  armed = kind;
}

const char* fault_disarm(void) {
  armed = FAULT_NONE;
  return failed;
}

int fault_fires(int kind, const char* name) {
  if (armed != kind || paused > 0 || --until != 0) return 0;
  failed = name;
  return 1;
}

int fault_interrupts(void) {
  return armed == FAULT_SYSTEM_CALL && paused == 0 && interrupted++ == 0;
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

int fault_open_descriptors(void) {
  int count = 0;
  for (int fd = 0; fd < MOST_DESCRIPTORS; ++fd) count += fcntl(fd, F_GETFD) != -1;
  return count;
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
