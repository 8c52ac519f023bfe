/* SPDX-License-Identifier: MIT OR Apache-2.0
 *
 * The library's malloc, which counts and can refuse. operator new of the C++ runtime stands on it.
 */
#ifndef HMN_TESTS_ABI_ALLOCATOR_H
#define HMN_TESTS_ABI_ALLOCATOR_H

/* Blocks that are allocated now, of all threads. */
long allocator_live(void);
/* Blocks ever allocated, of all threads. */
long allocator_made(void);
enum { ONCE = 1, FROM_THEN_ON = 1 << 30 };
/* The allocation after `skip` more is refused, and `times` in all. */
void allocator_refuse(long skip, long times);
/* Ends refusing and returns how many were refused. */
long allocator_allow(void);

/* What each system's side stands on, and calls. */
void allocator_begin(void);
int allocator_refuses(void);
void* allocator_count(void* block);
void allocator_count_moved(void);
void allocator_forget(const void* block);

#endif
