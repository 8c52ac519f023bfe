/* SPDX-License-Identifier: MIT OR Apache-2.0 */
/* What hmn calls of macOS' libproc, in words of our own: the test answers. */
#pragma once

#include <stdint.h>
#include <sys/types.h>

#ifdef __cplusplus
extern "C" {
#endif
int proc_pidinfo(int pid, int flavor, uint64_t argument, void* out, int size);
int proc_listchildpids(pid_t parent, void* out, int size);
#ifdef __cplusplus
}
#endif
