/* SPDX-License-Identifier: MIT OR Apache-2.0
 *
 * The objects that a public function is called on, and the table of such functions.
 */
#ifndef HMN_TESTS_ABI_FAULT_WORLD_H
#define HMN_TESTS_ABI_FAULT_WORLD_H

#include "support/calls.h"

/* Where readings run, or that they use nvidia-smi. */
enum { BY_CALLER, BY_WORKERS, BY_TOOL };
typedef struct world {
  int mode;
  fixture f;
  hmn_spill* spill;
  char* text; /* TEXT bytes */
  guarded* out;
} world;
enum { TEXT = 1 << 20 };

/* The object that a function needs; the objects that it depends on are opened too. */
enum { NOTHING, CONTEXT, RECORDER, SNAPSHOTS, SAMPLER, TRACKER, SPILL };

typedef struct function {
  const char* name;
  int needs;
  hmn_status (*run)(world* w, hmn_error* error);
} function;
extern const function functions[];
extern const size_t function_count;

/* The caller sets `mode`, `text` and `out`. */
hmn_status world_open(world* w, int needs);
void world_close(world* w);

#endif
