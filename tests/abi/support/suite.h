/* SPDX-License-Identifier: MIT OR Apache-2.0
 *
 * Common to every suite of the public interface. Plain C, with the public header only.
 */
#ifndef HMN_TESTS_ABI_SUITE_H
#define HMN_TESTS_ABI_SUITE_H

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include <hypomnesis.h>

/* Exit code of a suite that cannot run here. */
enum { SKIPPED = 77 };

#define NEW(type, name) type name = {.struct_size = (uint32_t)sizeof(type)}

/* Compares statuses by name, for the failure message. */
#define assert_status(actual, expected) \
  assert_string_equal(hmn_status_name(actual), hmn_status_name(expected))

/* The call returns the status, and its hmn_error has it too, with a message unless it is HMN_OK. */
void assert_reported(const hmn_error* error, hmn_status expected);
#define assert_returns(call, expected) \
  do {                                 \
    NEW(hmn_error, error);             \
    const hmn_status actual = (call);  \
    assert_status(actual, expected);   \
    assert_reported(&error, expected); \
  } while (0)

/* Deadlines that a busy machine meets too. */
enum { PATIENT_MS = 60000 };
hmn_context_options patient_options(hmn_flags flags);

/* Well-formed UTF-8, terminated within its capacity. */
void assert_text(const char* text, size_t capacity);

/* A buffer filled with a pattern, larger than the largest struct, to recognize every byte that a
 * call writes. */
enum { GUARD = 64, LARGEST = 65536 + 64 };
typedef struct guarded {
  uint64_t front[GUARD / 8];
  uint64_t bytes[LARGEST / 8];
  uint64_t back[GUARD / 8];
} guarded;
guarded* guard_new(void);
/* Refills it with the pattern and sets struct_size. */
void* guard_arm(guarded* g, uint32_t struct_size);
void assert_untouched_from(const guarded* g, size_t offset);
/* All zero up to `size` except struct_size, and not a byte written after it. */
void assert_cleared(const guarded* g, uint32_t size);
int is_zero(const void* bytes, size_t count);

#endif
