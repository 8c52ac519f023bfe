/* SPDX-License-Identifier: MIT OR Apache-2.0
 *
 * Preloaded into hmn: a user database that takes HMN_TEST_USER_MS to answer. */
#define _GNU_SOURCE
#include <pwd.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

static void wait_for_answer(void) {
  const char* const text = getenv("HMN_TEST_USER_MS");
  const long ms = text == NULL ? 0 : atol(text);
  const struct timespec delay = {ms / 1000, ms % 1000 * 1000000};
  nanosleep(&delay, NULL);
}

int getpwnam_r(const char* name, struct passwd* entry, char* buffer, size_t size,
               struct passwd** result) {
  wait_for_answer();
  snprintf(buffer, size, "%s", name);
  *entry = (struct passwd){.pw_name = buffer, .pw_uid = getuid()};
  *result = strcmp(name, "lateuser") == 0 ? entry : NULL;
  return 0;
}

int getpwuid_r(uid_t uid, struct passwd* entry, char* buffer, size_t size, struct passwd** result) {
  wait_for_answer();
  snprintf(buffer, size, "lateuser");
  *entry = (struct passwd){.pw_name = buffer, .pw_uid = uid};
  *result = entry;
  return 0;
}
