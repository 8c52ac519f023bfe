/* SPDX-License-Identifier: MIT OR Apache-2.0 */
/* Valid C and C++. consumer VERSION: fails unless the library has that version and can measure. */
#include <hypomnesis.h>
#include <stdio.h>
#include <string.h>

int main(int argc, char** argv) {
  hmn_context* context;
  hmn_process_memory memory = HMN_INIT(hmn_process_memory);
  hmn_status status = hmn_context_create(NULL, &context, NULL);

  if (argc != 2 || strcmp(hmn_version_string(), argv[1]) != 0) {
    printf("the library says that it is %s\n", hmn_version_string());
    return 1;
  }
  if (status == HMN_OK) {
    status = hmn_process_memory_read_self(context, HMN_PROCESS_MEMORY_HAS_RESIDENT, &memory, NULL);
  }
  hmn_context_destroy(context);
  if (status != HMN_OK || memory.resident_bytes < 4096) {
    printf("%s: %lu bytes\n", hmn_status_name(status), (unsigned long)memory.resident_bytes);
    return 1;
  }
  return 0;
}
