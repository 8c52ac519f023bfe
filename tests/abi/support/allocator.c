/* SPDX-License-Identifier: MIT OR Apache-2.0 */
#include "allocator.h"

#include <errno.h>
#include <stdatomic.h>
#include <stddef.h>

/* glibc's own, under the names that it keeps for interposers. */
void* __libc_malloc(size_t size);
void* __libc_calloc(size_t count, size_t size);
void* __libc_realloc(void* block, size_t size);
void* __libc_memalign(size_t alignment, size_t size);
void __libc_free(void* block);

/* The library must find these before libc's. */
#define INTERPOSED __attribute__((visibility("default")))
INTERPOSED void* malloc(size_t size);
INTERPOSED void* calloc(size_t count, size_t size);
INTERPOSED void* realloc(void* block, size_t size);
INTERPOSED void* memalign(size_t alignment, size_t size);
INTERPOSED void* aligned_alloc(size_t alignment, size_t size);
INTERPOSED int posix_memalign(void** out, size_t alignment, size_t size);
INTERPOSED void free(void* block);

static atomic_long live, made, refused;
static atomic_long next = -1; /* allocations until the first that is refused; negative: none is */
static atomic_long remaining;

static int refuses(void) {
  if (atomic_load(&remaining) <= 0 || atomic_fetch_sub(&next, 1) > 0) return 0;
  if (atomic_fetch_sub(&remaining, 1) <= 0) return 0;
  atomic_fetch_add(&refused, 1);
  errno = ENOMEM;
  return 1;
}

static void* counted(void* block) {
  if (block != NULL) {
    atomic_fetch_add(&live, 1);
    atomic_fetch_add(&made, 1);
  }
  return block;
}

void* malloc(size_t size) {
  return refuses() ? NULL : counted(__libc_malloc(size));
}

void* calloc(size_t count, size_t size) {
  return refuses() ? NULL : counted(__libc_calloc(count, size));
}

void* realloc(void* block, size_t size) {
  if (block == NULL) return malloc(size);
  if (size == 0) {
    free(block);
    return NULL;
  }
  if (refuses()) return NULL;
  atomic_fetch_add(&made, 1);
  return __libc_realloc(block, size);
}

void* memalign(size_t alignment, size_t size) {
  return refuses() ? NULL : counted(__libc_memalign(alignment, size));
}

void* aligned_alloc(size_t alignment, size_t size) {
  return memalign(alignment, size);
}

int posix_memalign(void** out, size_t alignment, size_t size) {
  void* block = memalign(alignment, size);
  if (block == NULL) return ENOMEM;
  *out = block;
  return 0;
}

void free(void* block) {
  if (block != NULL) atomic_fetch_sub(&live, 1);
  __libc_free(block);
}

long allocator_live(void) {
  return atomic_load(&live);
}

long allocator_made(void) {
  return atomic_load(&made);
}

void allocator_refuse(long skip, long times) {
  atomic_store(&refused, 0);
  atomic_store(&next, skip);
  atomic_store(&remaining, times);
}

long allocator_allow(void) {
  atomic_store(&remaining, 0);
  return atomic_load(&refused);
}
