/* SPDX-License-Identifier: MIT OR Apache-2.0
 *
 * A machine that a test describes itself.
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

/* `json` may hold %s once: a path in the folder, "…/go". Without options: patient ones. */
void machine_make(machine* m, const char* json, const hmn_context_options* options);
/* Lets go what waits for that path, now and later; has what comes later wait for it again. */
void machine_go(const machine* m);
void machine_stop(const machine* m);
void machine_end(machine* m);

/* For what happens in its own time. */
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

/* What waits for something else does so each time; what the machine holds up is so now and then. */
#define assert_at_once(limit_ms, call)                               \
  do {                                                               \
    int64_t spent = PATIENT_MS;                                      \
    for (int tries = 0; tries < 10 && spent > (limit_ms); ++tries) { \
      const int64_t since = now_ms();                                \
      call;                                                          \
      spent = now_ms() - since;                                      \
    }                                                                \
    assert_in_range(spent, 0, limit_ms);                             \
  } while (0)

#endif
