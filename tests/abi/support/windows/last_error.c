/* SPDX-License-Identifier: MIT OR Apache-2.0 */
#include "support/last_error.h"

#include <errno.h>
#include <windows.h>

#include "support/suite.h"

void last_error_set(int number) {
  errno = number;
  SetLastError((DWORD)number);
}

void assert_last_error(int number) {
  const DWORD last = GetLastError();
  assert_int_equal(errno, number);
  assert_int_equal(last, number);
}
