/* SPDX-License-Identifier: MIT OR Apache-2.0
 *
 * Fault number n: the n-th allocation, or the n-th system call, of the calling thread fails. Calls
 * of the fake drivers themselves are not counted.
 */
#ifndef HMN_TESTS_ABI_FAULTS_H
#define HMN_TESTS_ABI_FAULTS_H

#ifdef __cplusplus
extern "C" {
#endif

enum { FAULT_NONE, FAULT_ALLOCATION, FAULT_SYSTEM_CALL };

/* Numbers start at 1. A wait for another thread is not counted but interrupted once. */
void fault_arm(int kind, long number);
/* The same for the calls of all threads together, whose order may vary. */
void fault_arm_everywhere(int kind, long number);
/* Returns the name of the function that failed, or NULL. */
const char* fault_disarm(void);

/* Blocks that are allocated now, of all threads. */
long fault_live_blocks(void);

/* Sets every clock forward. */
void fault_advance_clocks(long seconds);

/* The fake drivers call these. */
__attribute__((visibility("default"))) void fault_pause(void);
__attribute__((visibility("default"))) void fault_resume(void);

/* Called at the fault, if it is defined. */
__attribute__((weak)) void fault_fired(void);

/* For the interposed functions. */
int fault_fires(int kind, const char* name);
int fault_interrupts(void);

#ifdef __cplusplus
}
#endif
#endif
