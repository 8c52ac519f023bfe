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

/* Returns 0, or -1 where the machine cannot be made. It is removed when the process exits. */
int machine_begin(void);
/* The context reads it, and NVIDIA's GPU through NVML or through the tool. */
hmn_status machine_use(hmn_context* context, int with_tool);

/* The driver's n-th call from now on returns the code, from 1; 0: none does. */
void machine_fail_driver(long number, int code);
/* Calls of the driver since then. */
long machine_driver_calls(void);

#ifdef __cplusplus
}
#endif
#endif
