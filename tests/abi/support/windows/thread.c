/* SPDX-License-Identifier: MIT OR Apache-2.0 */
#include "support/thread.h"

#include <windows.h>
/* After windows.h. */
#include <tlhelp32.h>

#include "support/suite.h"

struct thread {
  HANDLE handle;
  void (*run)(void*);
  void* argument;
};

static DWORD WINAPI run_thread(void* argument) {
  const thread* t = argument;
  t->run(t->argument);
  return 0;
}

thread* thread_start(void (*run)(void* argument), void* argument) {
  thread* t = malloc(sizeof *t);
  assert_non_null(t);
  t->run = run;
  t->argument = argument;
  t->handle = CreateThread(NULL, 0, run_thread, t, 0, NULL);
  assert_non_null(t->handle);
  return t;
}

void thread_join(thread* t) {
  WaitForSingleObject(t->handle, INFINITE);
  CloseHandle(t->handle);
  free(t);
}

int thread_count(void) {
  const HANDLE all = CreateToolhelp32Snapshot(TH32CS_SNAPTHREAD, 0);
  if (all == INVALID_HANDLE_VALUE) return -1;
  THREADENTRY32 entry = {.dwSize = sizeof entry};
  int count = 0;
  for (BOOL more = Thread32First(all, &entry); more; more = Thread32Next(all, &entry))
    count += entry.th32OwnerProcessID == GetCurrentProcessId();
  CloseHandle(all);
  return count;
}
