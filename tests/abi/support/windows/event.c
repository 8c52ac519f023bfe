/* SPDX-License-Identifier: MIT OR Apache-2.0 */
#include "support/event.h"

#include <windows.h>

int becomes_ready(int64_t handle, int64_t within_ms) {
  return WaitForSingleObject((HANDLE)(intptr_t)handle, (DWORD)within_ms) == WAIT_OBJECT_0;
}
