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

/* Makes the drivers, which are removed when the process exits. Returns 0, or -1 on failure. */
int drivers_begin(void);
hmn_status drivers_use(hmn_context* context);
/* Number of open NVML sessions. */
int drivers_sessions(void);
/* Makes an existing process start or stop using the AMD GPU. */
void drivers_set_client(int is_there);
/* Adds that many processes, from PID 10000 on, which do not use it. */
void drivers_add_processes(uint32_t count);

#ifdef __cplusplus
}
#endif
#endif
