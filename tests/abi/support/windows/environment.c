/* SPDX-License-Identifier: MIT OR Apache-2.0 */
#include "support/environment.h"

#include <stddef.h>
#include <stdlib.h>

void environment_set(const char* name, const char* value) {
  _putenv_s(name, value == NULL ? "" : value);
}
