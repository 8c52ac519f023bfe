/* SPDX-License-Identifier: MIT OR Apache-2.0 */
#ifndef HMN_TESTS_ABI_CLOCK_H
#define HMN_TESTS_ABI_CLOCK_H

#include <stdint.h>

/* Of the clock that never jumps, and of the one that counts from 1970. */
uint64_t now_ns(void);
uint64_t unix_now_ns(void);
/* The first of them in milliseconds. */
int64_t now_ms(void);
void sleep_ms(int64_t ms);

#endif
