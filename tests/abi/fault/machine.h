/* SPDX-License-Identifier: MIT OR Apache-2.0
 *
 * A machine with a GPU of the fake NVML, or of the fake nvidia-smi, and one of amdgpu's files.
 */
#ifndef HMN_TESTS_ABI_FAULT_MACHINE_H
#define HMN_TESTS_ABI_FAULT_MACHINE_H

#include <hypomnesis.h>

#ifdef __cplusplus
extern "C" {
#endif

enum { NVIDIA, AMD };

/* Makes the machine, which is removed when the process exits. Returns 0, or -1 on failure. */
int machine_begin(void);
/* Makes the context read the machine, and NVIDIA's GPU through NVML or nvidia-smi. */
hmn_status machine_use(hmn_context* context, int with_tool);

/* Makes the driver's n-th call from now on, from 1, return the code; 0: none. */
void machine_fail_driver(long number, int code);
/* Driver calls since machine_fail_driver. */
long machine_driver_calls(void);

#ifdef __cplusplus
}
#endif
#endif
