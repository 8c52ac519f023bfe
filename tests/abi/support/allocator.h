/* SPDX-License-Identifier: MIT OR Apache-2.0
 *
 * The library's malloc, which counts and can refuse; operator new of the C++ runtime calls it.
 */
#ifndef HMN_TESTS_ABI_ALLOCATOR_H
#define HMN_TESTS_ABI_ALLOCATOR_H

/* Blocks of all threads that are allocated now. */
long allocator_live(void);
/* Blocks of all threads that were ever allocated. */
long allocator_total(void);
enum { ONCE = 1, FROM_THEN_ON = 1 << 30 };
/* Refuses `times` allocations after the next `skip`. */
void allocator_refuse(long skip, long times);
/* Stops refusing and returns how many allocations were refused. */
long allocator_allow(void);

/* For the implementation of each system. */
void allocator_begin(void);
int allocator_refuses(void);
void* allocator_count(void* block);
void allocator_count_move(void);
void allocator_forget(const void* block);

#endif
