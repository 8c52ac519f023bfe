/* SPDX-License-Identifier: MIT OR Apache-2.0
 *
 * `would_fit FILE`: for each device of a machine the largest size that hmn_tracker_would_fit()
 * accepts, or "-" where it accepts none.
 */
#include <hypomnesis.h>
#include <stdio.h>

enum { ERROR = 1 };

/* Bisects between a size that fits and one that does not. */
static uint64_t find_largest(hmn_tracker* tracker) {
  uint64_t fits = 0;
  uint64_t fails = UINT64_MAX;
  while (fails - fits > 1) {
    const uint64_t middle = fits + (fails - fits) / 2;
    if (hmn_tracker_would_fit(tracker, middle, NULL) == HMN_OK)
      fits = middle;
    else
      fails = middle;
  }
  return fits;
}

static int print_device(hmn_context* context, uint32_t index) {
  hmn_tracker* tracker = NULL;
  if (hmn_tracker_create(context, index, NULL, &tracker, NULL) != HMN_OK) return ERROR;
  if (hmn_tracker_would_fit(tracker, 0, NULL) == HMN_OK)
    printf("%llu\n", (unsigned long long)find_largest(tracker));
  else
    puts("-");
  hmn_tracker_destroy(tracker);
  return 0;
}

int main(int argc, char** argv) {
  hmn_context* context = NULL;
  uint32_t count = 0;
  int code = 0;
  hmn_context_options options = HMN_INIT(hmn_context_options);
  options.deadline_ns = HMN_MILLISECONDS(200); /* a hung device is read once */
  if (argc != 2 || hmn_context_create(&options, &context, NULL) != HMN_OK) return ERROR;
  if (hmn_context_set_path(context, HMN_PATH_SIMULATION, argv[1], NULL) != HMN_OK ||
      hmn_device_scan(context, &count, NULL, NULL) != HMN_OK)
    code = ERROR;
  for (uint32_t i = 0; i < count && code == 0; ++i) code = print_device(context, i);
  hmn_context_destroy(context);
  return code;
}
