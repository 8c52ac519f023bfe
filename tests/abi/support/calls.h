/* SPDX-License-Identifier: MIT OR Apache-2.0
 *
 * Every function as a row of a table, for suites that test all of them in the same way.
 */
#ifndef HMN_TESTS_ABI_CALLS_H
#define HMN_TESTS_ABI_CALLS_H

#include "suite.h"

/* Objects of a machine on which every call succeeds: machines/everything.json by default. */
typedef struct fixture {
  hmn_context* context;
  hmn_snapshot* before;
  hmn_snapshot* after;
  hmn_sampler* sampler; /* stopped after one snapshot of everything */
  hmn_tracker* tracker; /* linked to device 0, with one tag */
} fixture;

/* The machine file of that name in tests/abi/machines. */
hmn_status open_machine(const char* name, hmn_flags flags, hmn_context** out);
/* NULL options: every default. */
hmn_status open_machine_with_options(const char* name, const hmn_context_options* options,
                                     hmn_context** out);
int fixture_open(fixture* f, hmn_flags flags);
int fixture_open_machine(fixture* f, const char* name, hmn_flags flags);
void fixture_close(fixture* f);
/* For cmocka: *state is a fixture. */
int fixture_setup(void** state);
int fixture_teardown(void** state);
enum { EVERYTHING = 511 };
/* A snapshot of everything, or NULL. */
hmn_snapshot* take_everything(hmn_context* context);

/* The calls that fill a struct, a number or a handle. */
typedef hmn_status (*fill)(const fixture* f, void* out, hmn_error* error);
typedef struct call {
  const char* name;
  uint32_t size_v1;  /* of the struct; 0: `out` has no struct_size */
  uint32_t size;     /* of its newest version */
  int takes_context; /* is called on the context */
  int takes_sampler;
  fill run;
} call;
extern const call calls[];
extern const size_t call_count;
/* Reads results of the sampler's thread; HMN_E_EMPTY where there are none yet. */
int reads_sampler_results(const call* c);
/* Every row of both tables once. */
void run_everything(const fixture* f);

/* The calls that write text. */
typedef hmn_status (*write_text)(const fixture* f, char* buffer, uint32_t capacity,
                                 uint32_t* needed, hmn_error* error);
typedef struct text_call {
  const char* name;
  write_text run;
} text_call;
extern const text_call text_calls[];
extern const size_t text_call_count;

#endif
