/* SPDX-License-Identifier: MIT OR Apache-2.0
 *
 * Preloaded into hmn: a directory of users that takes HMN_TEST_USER_MS to answer. */
#define _GNU_SOURCE
#include <pwd.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>

int getpwuid_r(uid_t uid, struct passwd* entry, char* buffer, size_t size, struct passwd** found) {
  const char* const text = getenv("HMN_TEST_USER_MS");
  const long ms = text == NULL ? 0 : atol(text);
  const struct timespec delay = {ms / 1000, ms % 1000 * 1000000};
  nanosleep(&delay, NULL);
  snprintf(buffer, size, "lateuser");
  *entry = (struct passwd){.pw_name = buffer, .pw_uid = uid};
  *found = entry;
  return 0;
}
