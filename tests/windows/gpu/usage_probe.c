/* SPDX-License-Identifier: MIT OR Apache-2.0
 *
 * usage_probe BACKENDS_OFF: what another process of this program's uses on device 0: status,
 * backend, accounting, presence bits, bytes in the device's memory, bytes in the host's. */
#include <hypomnesis.h>
#include <stdio.h>
#include <stdlib.h>
#include <windows.h>

static int print_usage(uint64_t backends_off, uint32_t pid) {
  hmn_context_options options = {0};
  hmn_context* context = NULL;
  hmn_usage usage = {0};
  hmn_status status;
  options.struct_size = sizeof options;
  options.deadline_ns = HMN_MILLISECONDS(20000);
  options.backends_off = backends_off;
  usage.struct_size = sizeof usage;
  if (hmn_context_create(&options, &context, NULL) != HMN_OK) return 1;
  status = hmn_usage_read(context, 0, pid, 0, &usage, NULL);
  printf("%d %u %u %u %llu %llu\n", (int)status, (unsigned)usage.backend,
         (unsigned)usage.accounting, (unsigned)usage.present, (unsigned long long)usage.used_bytes,
         (unsigned long long)usage.host_pool_bytes);
  hmn_context_destroy(context);
  return 0;
}

int main(int count, char** words) {
  char path[MAX_PATH];
  STARTUPINFOA startup = {0};
  PROCESS_INFORMATION other;
  int outcome;
  startup.cb = sizeof startup;
  if (GetModuleFileNameA(NULL, path, sizeof path) == 0) return 2;
  /* It never begins, and is a process all the same. */
  if (!CreateProcessA(path, NULL, NULL, NULL, FALSE, CREATE_SUSPENDED, NULL, NULL, &startup,
                      &other))
    return 3;
  outcome = print_usage(count > 1 ? strtoull(words[1], NULL, 0) : 0, other.dwProcessId);
  TerminateProcess(other.hProcess, 0);
  CloseHandle(other.hThread);
  CloseHandle(other.hProcess);
  return outcome;
}
