/* SPDX-License-Identifier: MIT OR Apache-2.0 */
#include "../allocator.h"

#include <errno.h>
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

void allocator_begin(void) {}

void* malloc(size_t size) {
  return allocator_refuses() ? NULL : allocator_count(__libc_malloc(size));
}

void* calloc(size_t count, size_t size) {
  return allocator_refuses() ? NULL : allocator_count(__libc_calloc(count, size));
}

void* realloc(void* block, size_t size) {
  if (block == NULL) return malloc(size);
  if (size == 0) {
    free(block);
    return NULL;
  }
  if (allocator_refuses()) return NULL;
  allocator_count_move();
  return __libc_realloc(block, size);
}

void* memalign(size_t alignment, size_t size) {
  return allocator_refuses() ? NULL : allocator_count(__libc_memalign(alignment, size));
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
  allocator_forget(block);
  __libc_free(block);
}
