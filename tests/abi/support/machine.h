/* SPDX-License-Identifier: MIT OR Apache-2.0
 *
 * A machine that a test describes itself.
 */
#ifndef HMN_TESTS_ABI_MACHINE_H
#define HMN_TESTS_ABI_MACHINE_H

#include "suite.h"
#include "tree.h"

typedef struct machine {
  tree folder;
  hmn_context* context;
} machine;

/* `json` may hold %s once: a path in the folder, "…/go". Without options: patient ones. */
void machine_make(machine* m, const char* json, const hmn_context_options* options);
/* Lets go what waits for that path. */
void machine_go(const machine* m);
void machine_end(machine* m);

/* Milliseconds of the clock that never jumps. */
int64_t now_ms(void);
void sleep_ms(int64_t ms);

#endif
