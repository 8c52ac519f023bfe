/* SPDX-License-Identifier: MIT OR Apache-2.0
 *
 * An idle NVIDIA GPU of the fake NVML that may sleep, and an AMD GPU of the kernel's files.
 */
#ifndef HMN_TESTS_ABI_DRIVERS_H
#define HMN_TESTS_ABI_DRIVERS_H

#include <hypomnesis.h>

#ifdef __cplusplus
extern "C" {
#endif

/* Returns 0, or -1 where they cannot be made. They are removed when the process exits. */
int drivers_begin(void);
hmn_status drivers_use(hmn_context* context);
/* Sessions of NVML that are open. */
int drivers_sessions(void);
/* A process that was there before begins to use the AMD GPU, or ends to. */
void drivers_set_client(int is_there);
/* As many processes more, from PID 10000 on, which do not use it. */
void drivers_add_processes(uint32_t count);

#ifdef __cplusplus
}
#endif
#endif
