/* SPDX-License-Identifier: MIT OR Apache-2.0 */
#include "subject.h"

static const struct {
  const char* name;
  unsigned bits;
} documented_statuses[] = {
#include "fault_statuses.inc"
};

subject find_subject(const char* name) {
  subject s = {name, 0, NULL, NULL, NULL, HMN_OK};
  for (size_t i = 0; i < sizeof documented_statuses / sizeof documented_statuses[0]; ++i) {
    if (strcmp(documented_statuses[i].name, name) == 0) s.documented = documented_statuses[i].bits;
  }
  for (size_t i = 0; i < function_count; ++i) {
    if (strcmp(functions[i].name, name) == 0) s.function = &functions[i];
  }
  for (size_t i = 0; i < call_count; ++i) {
    if (strcmp(calls[i].name, name) == 0) s.call = &calls[i];
  }
  for (size_t i = 0; i < text_call_count; ++i) {
    if (strcmp(text_calls[i].name, name) == 0) s.text_call = &text_calls[i];
  }
  return s;
}

int subject_needs(const subject* s) {
  if (s->function != NULL) return s->function->needs;
  if (s->call != NULL && s->call->takes_context) return CONTEXT;
  if (strncmp(s->name, "hmn_sampler_", 12) == 0) return SAMPLER;
  if (strncmp(s->name, "hmn_tracker_", 12) == 0) return TRACKER;
  return SNAPSHOTS;
}

hmn_status subject_run(const subject* s, world* w, hmn_error* error) {
  if (s->function != NULL) return s->function->run(w, error);
  if (s->call != NULL) {
    void* out = guard_arm(w->out, s->call->size_v1);
    const hmn_status status = s->call->run(&w->f, out, error);
    if (status != HMN_OK && s->call->size_v1 > 0) assert_cleared(w->out, s->call->size_v1);
    return status;
  }
  return s->text_call->run(&w->f, w->text, TEXT, NULL, error);
}

void for_each_export(void (*visit)(const char* name, void* argument), void* argument) {
  char line[256];
  int count = 0;
  FILE* exports = fopen(HMN_TEST_EXPORTS, "r");
  assert_non_null(exports);
  while (fgets(line, sizeof line, exports) != NULL) {
    line[strcspn(line, "@\n")] = 0;
    if (strncmp(line, "hmn_", 4) != 0) continue;
    visit(line, argument);
    ++count;
  }
  fclose(exports);
  assert_true(count > 0);
}
