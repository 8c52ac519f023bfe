/* SPDX-License-Identifier: MIT OR Apache-2.0 */
#ifndef HMN_TESTS_ABI_MEMORY_H
#define HMN_TESTS_ABI_MEMORY_H

#include <hypomnesis.h>
#include <stddef.h>
#include <stdint.h>

/* Memory that is resident from the first byte to the last. */
void* memory_allocate(size_t bytes);
void memory_free(void* block, size_t bytes);

/* Fields of a process that this system always reports, and fields that it never reports. */
hmn_flags reported_memory_fields(void);
hmn_flags unreported_memory_fields(void);

/* Sizes that the system reports. */
uint64_t page_bytes(void);
uint64_t installed_bytes(void);

#endif
