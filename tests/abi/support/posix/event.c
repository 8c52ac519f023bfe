/* SPDX-License-Identifier: MIT OR Apache-2.0 */
#define _POSIX_C_SOURCE 200809L
#include "support/event.h"

#include <poll.h>

int becomes_ready(int64_t handle, int64_t timeout_ms) {
  struct pollfd one = {.fd = (int)handle, .events = POLLIN};
  return poll(&one, 1, (int)timeout_ms) == 1 && one.revents == POLLIN;
}
