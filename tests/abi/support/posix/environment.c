/* SPDX-License-Identifier: MIT OR Apache-2.0 */
#define _POSIX_C_SOURCE 200809L
#include "support/environment.h"

#include <stdlib.h>

void environment_set(const char* name, const char* value) {
  if (value == NULL) {
    unsetenv(name);
  } else {
    setenv(name, value, 1);
  }
}
