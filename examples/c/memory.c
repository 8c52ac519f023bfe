/* SPDX-License-Identifier: MIT OR Apache-2.0 */
/* memory: the memory of this process, and what the host has available. */
#include <hypomnesis.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>

static void say(const char* what, int is_known, uint64_t bytes) {
  char text[32];
  if (is_known && hmn_format_bytes(bytes, text, sizeof text, NULL) == HMN_OK)
    printf("%s: %" PRIu64 " bytes (%s)\n", what, bytes, text);
  else
    printf("%s: not known\n", what);
}

int main(void) {
  hmn_context* context;
  hmn_context_options options = {.struct_size = sizeof options, .flags = HMN_CONTEXT_ENVIRONMENT};
  hmn_process_memory own = {.struct_size = sizeof own};
  hmn_system_memory host = {.struct_size = sizeof host};
  hmn_error error = {.struct_size = sizeof error};

  if (hmn_context_create(&options, &context, &error) != HMN_OK) {
    fprintf(stderr, "%s\n", error.message);
    return EXIT_FAILURE;
  }
  /* A failed reading leaves the struct zero, including the bits in `present`. */
  if (hmn_process_memory_read_self(context, 0, &own, &error) != HMN_OK)
    fprintf(stderr, "%s\n", error.message);
  if (hmn_system_memory_read(context, &host, &error) != HMN_OK)
    fprintf(stderr, "%s\n", error.message);
  say("resident", own.present & HMN_PROCESS_MEMORY_HAS_RESIDENT, own.resident_bytes);
  say("available", host.present & HMN_SYSTEM_MEMORY_HAS_AVAILABLE, host.available_bytes);
  hmn_context_destroy(context);
}
