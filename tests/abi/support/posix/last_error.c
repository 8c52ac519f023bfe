/* SPDX-License-Identifier: MIT OR Apache-2.0 */
#include "support/last_error.h"

#include <errno.h>

#include "support/suite.h"

void last_error_set(int number) {
  errno = number;
}

void assert_last_error(int number) {
  assert_int_equal(errno, number);
}
