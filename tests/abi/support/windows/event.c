/* SPDX-License-Identifier: MIT OR Apache-2.0 */
#include "support/event.h"

#include <windows.h>

int becomes_ready(int64_t handle, int64_t timeout_ms) {
  return WaitForSingleObject((HANDLE)(intptr_t)handle, (DWORD)timeout_ms) == WAIT_OBJECT_0;
}
