/* SPDX-License-Identifier: MIT OR Apache-2.0
 *
 * Every function as a row of a table, for the suites that ask the same of all of them.
 */
#ifndef HMN_TESTS_ABI_CALLS_H
#define HMN_TESTS_ABI_CALLS_H

#include "suite.h"

/* A machine on which every call has an answer: machines/everything.json by default. */
typedef struct fixture {
  hmn_context* context;
  hmn_snapshot* before;
  hmn_snapshot* after;
  hmn_sampler* sampler; /* stopped; it has taken one snapshot of everything */
  hmn_tracker* tracker; /* linked to device 0; it has one tag */
} fixture;

/* The machine file of that name in tests/abi/machines. */
hmn_status open_machine(const char* name, hmn_flags flags, hmn_context** out);
/* With an address of its own for the options; NULL: every default. */
hmn_status open_machine_with(const char* name, const hmn_context_options* options,
                             hmn_context** out);
int fixture_open(fixture* f, hmn_flags flags);
int fixture_open_on(fixture* f, const char* name, hmn_flags flags);
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
  uint32_t size_v1; /* of the struct; 0: `out` is no sized struct */
  uint32_t size;    /* of its newest version */
  int of_context;   /* takes the context */
  int of_sampler;
  fill run;
} call;
extern const call calls[];
extern const size_t call_count;
/* What the sampler's thread has seen: HMN_E_EMPTY where it may have none. */
int is_of_sampler_thread(const call* c);
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
