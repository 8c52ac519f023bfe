/* SPDX-License-Identifier: MIT OR Apache-2.0 */
/* memory: the memory of this process, and what the host has available. */
#include <hypomnesis.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>

static void print_size(const char* label, int is_known, uint64_t bytes) {
  char text[32];
  if (is_known && hmn_format_bytes(bytes, text, sizeof text, NULL, NULL) == HMN_OK)
    printf("%s: %" PRIu64 " bytes (%s)\n", label, bytes, text);
  else
    printf("%s: not known\n", label);
}

int main(void) {
  hmn_context* context;
  hmn_context_options options = HMN_INIT(hmn_context_options);
  hmn_process_memory own = HMN_INIT(hmn_process_memory);
  hmn_system_memory host = HMN_INIT(hmn_system_memory);
  hmn_error error = HMN_INIT(hmn_error);

  options.flags = HMN_CONTEXT_ENVIRONMENT;
  if (hmn_context_create(&options, &context, &error) != HMN_OK) {
    fprintf(stderr, "%s\n", error.message);
    return EXIT_FAILURE;
  }
  /* A failed reading leaves the struct zero, including the bits in `present`. */
  if (hmn_process_memory_read_self(context, 0, &own, &error) != HMN_OK)
    fprintf(stderr, "%s\n", error.message);
  if (hmn_system_memory_read(context, 0, &host, &error) != HMN_OK)
    fprintf(stderr, "%s\n", error.message);
  print_size("resident", own.present & HMN_PROCESS_MEMORY_HAS_RESIDENT, own.resident_bytes);
  print_size("available", host.present & HMN_SYSTEM_MEMORY_HAS_AVAILABLE, host.available_bytes);
  hmn_context_destroy(context);
}
