/* SPDX-License-Identifier: MIT OR Apache-2.0 */
#include "allocator.h"

#include <errno.h>
#include <stdatomic.h>
#include <stddef.h>

static atomic_long live, total, refused;
static atomic_long next = -1; /* allocations before the first refused one; negative: none */
static atomic_long remaining;

int allocator_refuses(void) {
  if (atomic_load(&remaining) <= 0 || atomic_fetch_sub(&next, 1) > 0) return 0;
  if (atomic_fetch_sub(&remaining, 1) <= 0) return 0;
  atomic_fetch_add(&refused, 1);
  errno = ENOMEM;
  return 1;
}

void* allocator_count(void* block) {
  if (block != NULL) {
    atomic_fetch_add(&live, 1);
    atomic_fetch_add(&total, 1);
  }
  return block;
}

void allocator_count_move(void) {
  atomic_fetch_add(&total, 1);
}

void allocator_forget(const void* block) {
  if (block != NULL) atomic_fetch_sub(&live, 1);
}

long allocator_live(void) {
  allocator_begin();
  return atomic_load(&live);
}

long allocator_total(void) {
  allocator_begin();
  return atomic_load(&total);
}

void allocator_refuse(long skip, long times) {
  allocator_begin();
  atomic_store(&refused, 0);
  atomic_store(&next, skip);
  atomic_store(&remaining, times);
}

long allocator_allow(void) {
  atomic_store(&remaining, 0);
  return atomic_load(&refused);
}
