/* SPDX-License-Identifier: MIT OR Apache-2.0
 *
 * A simulated machine that a test describes in JSON.
 */
#ifndef HMN_TESTS_ABI_MACHINE_H
#define HMN_TESTS_ABI_MACHINE_H

#include "clock.h"
#include "suite.h"
#include "tree.h"

typedef struct machine {
  tree folder;
  hmn_context* context;
} machine;

/* `json` may contain %s once, which becomes a path in the folder, "…/go". NULL: patient_options. */
void machine_make(machine* m, const char* json, const hmn_context_options* options);
/* machine_go releases the calls that wait for that path, now and later; machine_stop makes later
 * calls wait again. */
void machine_go(const machine* m);
void machine_stop(const machine* m);
void machine_end(machine* m);

/* For an event whose time is not known. */
#define wait_until(condition)                             \
  do {                                                    \
    const int64_t start = now_ms();                       \
    int holds = (condition) ? 1 : 0;                      \
    while (holds == 0 && now_ms() - start < PATIENT_MS) { \
      sleep_ms(1);                                        \
      holds = (condition) ? 1 : 0;                        \
    }                                                     \
    assert_true(holds);                                   \
  } while (0)

/* The fastest of ten runs: a call that waits does so each time, a busy machine delays only some. */
#define assert_at_once(limit_ms, call)                               \
  do {                                                               \
    int64_t spent = PATIENT_MS;                                      \
    for (int tries = 0; tries < 10 && spent > (limit_ms); ++tries) { \
      const int64_t start = now_ms();                                \
      call;                                                          \
      spent = now_ms() - start;                                      \
    }                                                                \
    assert_in_range(spent, 0, limit_ms);                             \
  } while (0)

#endif
