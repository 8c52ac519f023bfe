/* SPDX-License-Identifier: MIT OR Apache-2.0 */
#ifndef HMN_TESTS_ABI_MEMORY_H
#define HMN_TESTS_ABI_MEMORY_H

#include <hypomnesis.h>
#include <stddef.h>
#include <stdint.h>

/* Memory that is resident from the first byte to the last. */
void* memory_take(size_t bytes);
void memory_give_back(void* block, size_t bytes);

/* Fields of a process that this system always reports, and those that it never reports. */
hmn_flags memory_reported(void);
hmn_flags memory_never_reported(void);

/* What the system reports of the machine. */
uint64_t page_bytes(void);
uint64_t installed_bytes(void);

#endif
