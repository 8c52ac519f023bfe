/* SPDX-License-Identifier: MIT OR Apache-2.0 */
#ifndef HMN_TESTS_ABI_LAST_ERROR_H
#define HMN_TESTS_ABI_LAST_ERROR_H

/* Where the calls of the system leave what went wrong: errno, and GetLastError too where it is. */
void last_error_set(int number);
void assert_last_error(int number);

#endif
