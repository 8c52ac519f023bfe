/* SPDX-License-Identifier: MIT OR Apache-2.0 */
#ifndef HMN_TESTS_ABI_ENVIRONMENT_H
#define HMN_TESTS_ABI_ENVIRONMENT_H

/* Sets a variable of this process; NULL removes it. */
void environment_set(const char* name, const char* value);

#endif
