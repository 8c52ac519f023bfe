/* SPDX-License-Identifier: MIT OR Apache-2.0 */
#ifndef HMN_TESTS_ABI_FAULT_OPENINGS_H
#define HMN_TESTS_ABI_FAULT_OPENINGS_H

/* Number of libhypomnesis' calls that can open a descriptor, of all threads until now. */
long openings_count(void);
/* Returns the last function that was called without close-on-exec, or NULL. */
const char* openings_inherited(void);

#endif
