/* SPDX-License-Identifier: MIT OR Apache-2.0 */
#ifndef HMN_TESTS_ABI_EVENT_H
#define HMN_TESTS_ABI_EVENT_H

#include <stdint.h>

/* Whether hmn_sampler_handle's result is ready, or becomes so within the time. */
int becomes_ready(int64_t handle, int64_t within_ms);

#endif
