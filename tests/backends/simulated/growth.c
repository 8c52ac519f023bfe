/* SPDX-License-Identifier: MIT OR Apache-2.0
 *
 * growth FILE [read]: reads a machine file and takes a snapshot of it, or only reads it, for
 * growth.py to count the instructions or the time. A driver may take as long as it likes. No thread
 * is started: one that a busy machine stops for long seems to hang, and another reads all again. */
#include <hypomnesis.h>
#include <stdio.h>

int main(int count, char** arguments) {
  hmn_context_options options = {.struct_size = sizeof options,
                                 .flags = HMN_CONTEXT_NO_THREADS,
                                 .deadline_ms = HMN_MS_UNLIMITED,
                                 .open_deadline_ms = HMN_MS_UNLIMITED};
  hmn_snapshot_options all = {.struct_size = sizeof all, .collect = (HMN_COLLECT_GROUPS << 1) - 1};
  hmn_context* context = NULL;
  hmn_snapshot* snapshot = NULL;
  hmn_error error = {.struct_size = sizeof error};
  hmn_backend_info simulated = {.struct_size = sizeof simulated};
  if (count < 2 || hmn_context_create(&options, &context, &error) != HMN_OK ||
      hmn_context_set_path(context, HMN_PATH_SIMULATION, arguments[1], &error) != HMN_OK ||
      (count == 2 ? hmn_snapshot_take(context, &all, &snapshot, &error)
                  : hmn_context_backend(context, HMN_BACKEND_SIMULATED, &simulated, &error)) !=
          HMN_OK) {
    fprintf(stderr, "growth: %s\n", count < 2 ? "one file is needed" : error.message);
    return 1;
  }
  hmn_snapshot_destroy(snapshot);
  hmn_context_destroy(context);
  return 0;
}
