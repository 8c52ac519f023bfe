/* SPDX-License-Identifier: MIT OR Apache-2.0 */
#ifndef HMN_TESTS_ABI_EVENT_H
#define HMN_TESTS_ABI_EVENT_H

#include <stdint.h>

/* Whether the result of hmn_sampler_handle is ready, or becomes ready before the timeout. */
int becomes_ready(int64_t handle, int64_t timeout_ms);

#endif
