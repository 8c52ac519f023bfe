/* SPDX-License-Identifier: MIT OR Apache-2.0 */
/* before_after: the change on the host and on the first GPU when 64 MiB are allocated. */
#include <hypomnesis.h>
#include <stdio.h>
#include <stdlib.h>

enum { MIB = 1 << 20, WORK_BYTES = 64 * MIB };

/* The change on device 0 as text; NULL when it is not known. */
static char* format_change(const hmn_snapshot* before, const hmn_snapshot* after) {
  uint32_t size = 0;
  char* text;
  if (hmn_report_before_after(before, after, 0, "work", 0, NULL, 0, &size, NULL) != HMN_OK)
    return NULL;
  text = malloc(size);
  if (text) hmn_report_before_after(before, after, 0, "work", 0, text, size, NULL, NULL);
  return text;
}

static int print_change(const hmn_snapshot* before, const hmn_snapshot* after) {
  hmn_process_memory memory_before = HMN_INIT(hmn_process_memory);
  hmn_process_memory memory_after = HMN_INIT(hmn_process_memory);
  hmn_snapshot_info info = HMN_INIT(hmn_snapshot_info);
  char* text;
  hmn_snapshot_read(after, &info, NULL);
  text = info.device_count > 0 ? format_change(before, after) : NULL;
  if (text) {
    fputs(text, stdout);
    free(text);
    return EXIT_SUCCESS;
  }
  hmn_snapshot_memory(before, &memory_before, NULL);
  hmn_snapshot_memory(after, &memory_after, NULL);
  if (!(memory_before.present & memory_after.present & HMN_PROCESS_MEMORY_HAS_RESIDENT)) {
    puts("RAM is not known");
    return EXIT_FAILURE;
  }
  if (memory_after.resident_bytes < memory_before.resident_bytes + WORK_BYTES) {
    puts("RAM rose by less than 64 MiB");
    return EXIT_FAILURE;
  }
  puts("RAM +64 MiB or more");
  return EXIT_SUCCESS;
}

/* Volatile, so that the compiler keeps the writes. */
static void touch(volatile char* bytes) {
  for (size_t i = 0; i < WORK_BYTES; i += 1024) bytes[i] = 1;
}

int main(void) {
  hmn_context* context = NULL;
  hmn_context_options options = HMN_INIT(hmn_context_options);
  hmn_snapshot *before = NULL, *after = NULL;
  hmn_error error = HMN_INIT(hmn_error);
  char* work = malloc(WORK_BYTES);
  int status = EXIT_FAILURE;

  options.flags = HMN_CONTEXT_ENVIRONMENT;
  if (work && hmn_context_create(&options, &context, &error) == HMN_OK &&
      hmn_snapshot_take(context, NULL, &before, &error) == HMN_OK) {
    touch(work);
    if (hmn_snapshot_take(context, NULL, &after, &error) == HMN_OK)
      status = print_change(before, after);
  }
  if (!after) fprintf(stderr, "%s\n", error.message);
  /* In any order. */
  hmn_context_destroy(context);
  hmn_snapshot_destroy(before);
  hmn_snapshot_destroy(after);
  free(work);
  return status;
}
