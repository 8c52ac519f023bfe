/* SPDX-License-Identifier: MIT OR Apache-2.0 */
#ifndef HMN_TESTS_ABI_LAST_ERROR_H
#define HMN_TESTS_ABI_LAST_ERROR_H

/* The thread's last error code: errno, and on Windows also GetLastError. */
void last_error_set(int number);
void assert_last_error(int number);

#endif
