/* SPDX-License-Identifier: MIT OR Apache-2.0
 *
 * One exported function, from the table that has a row for it.
 */
#ifndef HMN_TESTS_ABI_FAULT_SUBJECT_H
#define HMN_TESTS_ABI_FAULT_SUBJECT_H

#include "world.h"

typedef struct subject {
  const char* name;
  unsigned documented; /* bit -s for each documented status s */
  const function* function;
  const call* call;
  const text_call* text_call;
  hmn_status normal_status; /* without a fault */
} subject;

subject find_subject(const char* name);
int subject_needs(const subject* s);
hmn_status subject_run(const subject* s, world* w, hmn_error* error);

/* Visits each function in abi/exports.txt. */
void for_each_export(void (*visit)(const char* name, void* argument), void* argument);

#endif
