/* SPDX-License-Identifier: MIT OR Apache-2.0
 *
 * Each exported function, from whichever table has it.
 */
#ifndef HMN_TESTS_ABI_FAULT_SUBJECT_H
#define HMN_TESTS_ABI_FAULT_SUBJECT_H

#include "world.h"

typedef struct subject {
  const char* name;
  unsigned documented; /* bit -s for each status s */
  const function* own;
  const call* filling;
  const text_call* writing;
  hmn_status usual; /* without a fault */
} subject;

subject subject_of(const char* name);
int subject_needs(const subject* s);
hmn_status subject_run(const subject* s, world* w, hmn_error* error);

/* Of abi/exports.txt. */
void for_each_export(void (*visit)(const char* name, void* argument), void* argument);

#endif
