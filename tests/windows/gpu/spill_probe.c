/* SPDX-License-Identifier: MIT OR Apache-2.0
 *
 * spill_probe BACKENDS_OFF FILE...: observes device 0 once with the counters as they are, and once
 * with each file in their place; prints a line for each observation. */
#include <hypomnesis.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static void observe(hmn_spill* spill, const char* label) {
  hmn_spill_info info = {0};
  hmn_spill_observe(spill, label, NULL);
  info.struct_size = sizeof info;
  if (hmn_spill_read(spill, &info, NULL) != HMN_OK) return;
  printf("%d %u %u %llu %llu %llu %s\n", (int)info.status, (unsigned)info.state,
         (unsigned)info.rules, (unsigned long long)info.dedicated_bytes,
         (unsigned long long)info.shared_bytes, (unsigned long long)info.limit_bytes, info.message);
}

int main(int count, char** arguments) {
  hmn_context_options options = {0};
  hmn_context* context = NULL;
  hmn_spill* spill = NULL;
  uint32_t devices = 0;
  char setting[1024] = "HMN_FAKE_PDH=";
  const size_t name = strlen(setting);
  int i;
  options.struct_size = sizeof options;
  options.deadline_ns = HMN_MILLISECONDS(20000);
  options.backends_off = count > 1 ? strtoull(arguments[1], NULL, 0) : 0;
  if (hmn_context_create(&options, &context, NULL) != HMN_OK) return 1;
  if (hmn_device_scan(context, &devices, NULL, NULL) != HMN_OK || devices == 0) return 2;
  if (hmn_spill_create(context, 0, NULL, &spill, NULL) != HMN_OK) return 3;
  observe(spill, "first");
  for (i = 2; i < count; ++i) {
    snprintf(setting + name, sizeof setting - name, "%s", arguments[i]);
    _putenv(setting);
    observe(spill, "later");
  }
  hmn_spill_destroy(spill);
  hmn_context_destroy(context);
  return 0;
}
