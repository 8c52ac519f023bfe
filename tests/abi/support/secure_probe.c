/* SPDX-License-Identifier: MIT OR Apache-2.0
 *
 * Run set-user-id by secure_test.c. Exit code 0: the environment was not read, 1: it was read, 2:
 * the backend could not be queried, 77: the system did not start this as a privileged program.
 */
#include <hypomnesis.h>
#include <sys/auxv.h>

int main(void) {
  hmn_context_options options = {.struct_size = sizeof options, .flags = HMN_CONTEXT_ENVIRONMENT};
  hmn_backend_info info = {.struct_size = sizeof info};
  hmn_context* context = 0;
  if (getauxval(AT_SECURE) == 0) return 77;
  if (hmn_context_create(&options, &context, 0) != HMN_OK) return 1;
  if (hmn_context_backend(context, HMN_BACKEND_SIMULATED, &info, 0) != HMN_OK) return 2;
  hmn_context_destroy(context);
  return info.state == HMN_RUN_STATE_OFF ? 0 : 1;
}
