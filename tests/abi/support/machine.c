/* SPDX-License-Identifier: MIT OR Apache-2.0 */
#include "machine.h"

static void fill_in(char* text, size_t capacity, const char* json, const char* path) {
  const char* placeholder = strstr(json, "%s");
  if (placeholder == NULL) {
    snprintf(text, capacity, "%s", json);
  } else {
    snprintf(text, capacity, "%.*s%s/go%s", (int)(placeholder - json), json, path, placeholder + 2);
  }
}

void machine_make(machine* m, const char* json, const hmn_context_options* options) {
  static char text[65536];
  char path[128];
  assert_int_equal(tree_make(&m->folder), 0);
  fill_in(text, sizeof text, json, m->folder.path);
  assert_int_equal(tree_write(&m->folder, "machine.json", text), 0);
  snprintf(path, sizeof path, "%s/machine.json", m->folder.path);
  const hmn_context_options default_options = patient_options(0);
  assert_returns(
      hmn_context_create(options == NULL ? &default_options : options, &m->context, &error),
      HMN_OK);
  assert_returns(hmn_context_set_path(m->context, HMN_PATH_SIMULATION, path, &error), HMN_OK);
}

void machine_go(const machine* m) {
  tree_write(&m->folder, "go", "");
}

void machine_stop(const machine* m) {
  char path[512];
  snprintf(path, sizeof path, "%s/go", m->folder.path);
  remove(path);
}

void machine_end(machine* m) {
  hmn_context_destroy(m->context);
  tree_remove(&m->folder);
}
