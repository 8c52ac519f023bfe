/* SPDX-License-Identifier: MIT OR Apache-2.0 */
#ifndef HMN_TESTS_ABI_THREAD_H
#define HMN_TESTS_ABI_THREAD_H

typedef struct thread thread;

/* Fails the test if the thread cannot be started. */
thread* thread_start(void (*run)(void* argument), void* argument);
/* Waits until the thread has ended. */
void thread_join(thread* t);
/* All threads and descriptors of this process, whoever started or opened them; descriptors only on
 * POSIX systems. */
int thread_count(void);
int descriptor_count(void);

#endif
