/* SPDX-License-Identifier: MIT OR Apache-2.0
 *
 * A child is this program started again. Its command line names the function it runs, by the place in
 * the image, and the bytes of the argument.
 */
#include "support/child.h"

#include <windows.h>

#include "support/suite.h"

enum { FAILED = 99, MOST = 64 };
static const char of_child[] = "--child";

void child_failed(const char* file, int line, const char* what) {
  fprintf(stderr, "%s:%d: in a child: %s\n", file, line, what);
  fflush(NULL);
  _exit(FAILED);
}

void child_status(const char* file, int line, const char* what, int got, int expected) {
  if (got == expected) return;
  fprintf(stderr, "%s:%d: in a child: %s is %s, not %s\n", file, line, what, hmn_status_name(got),
          hmn_status_name(expected));
  fflush(NULL);
  _exit(FAILED);
}

uint32_t own_pid(void) {
  return GetCurrentProcessId();
}

static uintptr_t image(void) {
  return (uintptr_t)GetModuleHandleA(NULL);
}

static HANDLE ready_event(uint32_t pid) {
  char name[64];
  snprintf(name, sizeof name, "hmn-abi-ready-%lu", (unsigned long)pid);
  const HANDLE event = CreateEventA(NULL, TRUE, FALSE, name);
  CHECK(event != NULL);
  return event;
}

void child_main(int count, char** words) {
  unsigned char argument[MOST] = {0};
  if (count < 3 || strcmp(words[1], of_child) != 0) return;
  const uintptr_t place = image() + (uintptr_t)strtoull(words[2], NULL, 16);
  const char* bytes = count > 3 ? words[3] : "";
  for (size_t i = 0; i < MOST && bytes[2 * i] != 0; ++i) {
    const char byte[] = {bytes[2 * i], bytes[2 * i + 1], 0};
    argument[i] = (unsigned char)strtoul(byte, NULL, 16);
  }
  ((void (*)(void*))place)(argument);
  fflush(NULL);
  _exit(0);
}

static PROCESS_INFORMATION begin(void (*check)(void* argument), const void* argument, size_t size,
                                 HANDLE printed) {
  char path[MAX_PATH], line[MAX_PATH + 64 + 2 * MOST];
  assert_in_range(size, 0, MOST);
  assert_in_range(GetModuleFileNameA(NULL, path, sizeof path), 1, sizeof path - 1);
  int end = snprintf(line, sizeof line, "\"%s\" %s %llx ", path, of_child,
                     (unsigned long long)((uintptr_t)check - image()));
  for (size_t i = 0; i < size; ++i)
    end += snprintf(line + end, sizeof line - (size_t)end, "%02x",
                    ((const unsigned char*)argument)[i]);
  STARTUPINFOA startup = {.cb = sizeof startup};
  if (printed != NULL) {
    startup.dwFlags = STARTF_USESTDHANDLES;
    startup.hStdOutput = startup.hStdError = printed;
  }
  PROCESS_INFORMATION made;
  fflush(NULL);
  assert_true(
      CreateProcessA(path, line, NULL, NULL, printed != NULL, 0, NULL, NULL, &startup, &made));
  CloseHandle(made.hThread);
  return made;
}

static DWORD outcome_of(void (*check)(void* argument), const void* argument, size_t size,
                        HANDLE printed) {
  const PROCESS_INFORMATION made = begin(check, argument, size, printed);
  DWORD code = 0;
  if (WaitForSingleObject(made.hProcess, PATIENT_MS) != WAIT_OBJECT_0) {
    TerminateProcess(made.hProcess, FAILED);
    fail_msg("the child hung");
  }
  assert_true(GetExitCodeProcess(made.hProcess, &code));
  CloseHandle(made.hProcess);
  return code;
}

void assert_apart(void (*check)(void* argument), void* argument, size_t size) {
  assert_int_equal(outcome_of(check, argument, size, NULL), 0);
}

void assert_silent(void (*check)(void* argument)) {
  char folder[MAX_PATH + 1], path[MAX_PATH + 1], text[1024] = "";
  DWORD length = 0;
  SECURITY_ATTRIBUTES inherited = {.nLength = sizeof inherited, .bInheritHandle = TRUE};
  assert_in_range(GetTempPathA(sizeof folder, folder), 1, sizeof folder - 1);
  assert_int_not_equal(GetTempFileNameA(folder, "hmn", 0, path), 0);
  const HANDLE printed =
      CreateFileA(path, GENERIC_READ | GENERIC_WRITE, FILE_SHARE_READ | FILE_SHARE_WRITE,
                  &inherited, CREATE_ALWAYS, FILE_FLAG_DELETE_ON_CLOSE, NULL);
  assert_ptr_not_equal(printed, INVALID_HANDLE_VALUE);
  const DWORD outcome = outcome_of(check, NULL, 0, printed);
  SetFilePointer(printed, 0, NULL, FILE_BEGIN);
  assert_true(ReadFile(printed, text, sizeof text - 1, &length, NULL));
  CloseHandle(printed);
  assert_string_equal(text, "");
  assert_int_equal(outcome, 0);
}

struct child {
  PROCESS_INFORMATION of;
};

child* child_start(void (*life)(void* argument)) {
  child* started = malloc(sizeof *started);
  assert_non_null(started);
  started->of = begin(life, NULL, 0, NULL);
  const HANDLE ready = ready_event(started->of.dwProcessId);
  assert_int_equal(WaitForSingleObject(ready, PATIENT_MS), WAIT_OBJECT_0);
  CloseHandle(ready);
  return started;
}

void child_ready(void) {
  SetEvent(ready_event(own_pid()));
}

uint32_t child_pid(const child* started) {
  return started->of.dwProcessId;
}

void child_kill(child* started) {
  TerminateProcess(started->of.hProcess, FAILED);
  assert_int_equal(WaitForSingleObject(started->of.hProcess, PATIENT_MS), WAIT_OBJECT_0);
}

void child_let_go(child* started) {
  CloseHandle(started->of.hProcess);
  free(started);
}
