/* SPDX-License-Identifier: MIT OR Apache-2.0 */
#ifndef HMN_TESTS_ABI_CLOCK_H
#define HMN_TESTS_ABI_CLOCK_H

#include <stdint.h>

/* Times of the monotonic clock, and of the clock that counts from 1970. */
uint64_t now_ns(void);
uint64_t unix_now_ns(void);
/* Time of the monotonic clock. */
int64_t now_ms(void);
void sleep_ms(int64_t ms);

#endif
