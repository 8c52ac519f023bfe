/* SPDX-License-Identifier: MIT OR Apache-2.0
 *
 * A module that the library must refuse before it calls it. What precedes `make` is what
 * modules of every version have.
 */
#include <stdint.h>
#include <stdlib.h>

struct table {
  uint32_t interface, layout;
  const char *version, *headers, *compiler;
  void (*make)(void);
};

const struct table* hmn_simulation_module(void);

const struct table* hmn_simulation_module(void) {
  static const struct table table = {FAKE_INTERFACE,     1,      FAKE_VERSION,
                                     "fedcba9876543210", "cc 1", abort};
  return &table;
}
