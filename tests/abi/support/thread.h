/* SPDX-License-Identifier: MIT OR Apache-2.0 */
#ifndef HMN_TESTS_ABI_THREAD_H
#define HMN_TESTS_ABI_THREAD_H

typedef struct thread thread;

/* Fails the test where there can be no more. */
thread* thread_start(void (*run)(void* argument), void* argument);
/* Waits for its end. */
void thread_join(thread* started);
/* All that this process has, whoever started or opened them; descriptors on POSIX systems alone. */
int thread_count(void);
int descriptor_count(void);

#endif
