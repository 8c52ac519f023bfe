/* SPDX-License-Identifier: MIT OR Apache-2.0 */
#ifndef HMN_TESTS_ABI_IMAGE_H
#define HMN_TESTS_ABI_IMAGE_H

/* Whether this process has loaded the library at this path. */
int image_is_loaded(const char* path);

#endif
