/* SPDX-License-Identifier: MIT OR Apache-2.0
 *
 * A child is this program started again. Its command line has the offset of the function in the
 * image, and the bytes of the argument.
 */
#include "support/child.h"

#include <windows.h>

#include "support/suite.h"

enum { FAILED = 99, ARGUMENT_SIZE = 64 };
static const char child_option[] = "--child";

void child_failed(const char* file, int line, const char* condition) {
  fprintf(stderr, "%s:%d: in a child: %s\n", file, line, condition);
  fflush(NULL);
  _exit(FAILED);
}

void child_status(const char* file, int line, const char* call, int status, int expected) {
  if (status == expected) return;
  fprintf(stderr, "%s:%d: in a child: %s is %s, not %s\n", file, line, call,
          hmn_status_name(status), hmn_status_name(expected));
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
  unsigned char argument[ARGUMENT_SIZE] = {0};
  if (count < 3 || strcmp(words[1], child_option) != 0) return;
  const uintptr_t function = image() + (uintptr_t)strtoull(words[2], NULL, 16);
  const char* bytes = count > 3 ? words[3] : "";
  for (size_t i = 0; i < ARGUMENT_SIZE && bytes[2 * i] != 0; ++i) {
    const char byte[] = {bytes[2 * i], bytes[2 * i + 1], 0};
    argument[i] = (unsigned char)strtoul(byte, NULL, 16);
  }
  ((void (*)(void*))function)(argument);
  fflush(NULL);
  _exit(0);
}

static PROCESS_INFORMATION start_process(void (*check)(void* argument), const void* argument,
                                         size_t size, HANDLE output) {
  char path[MAX_PATH], line[MAX_PATH + 64 + 2 * ARGUMENT_SIZE];
  assert_in_range(size, 0, ARGUMENT_SIZE);
  assert_in_range(GetModuleFileNameA(NULL, path, sizeof path), 1, sizeof path - 1);
  int end = snprintf(line, sizeof line, "\"%s\" %s %llx ", path, child_option,
                     (unsigned long long)((uintptr_t)check - image()));
  for (size_t i = 0; i < size; ++i)
    end += snprintf(line + end, sizeof line - (size_t)end, "%02x",
                    ((const unsigned char*)argument)[i]);
  STARTUPINFOA startup = {.cb = sizeof startup};
  if (output != NULL) {
    startup.dwFlags = STARTF_USESTDHANDLES;
    startup.hStdOutput = startup.hStdError = output;
  }
  PROCESS_INFORMATION process;
  fflush(NULL);
  assert_true(
      CreateProcessA(path, line, NULL, NULL, output != NULL, 0, NULL, NULL, &startup, &process));
  CloseHandle(process.hThread);
  return process;
}

static DWORD run_check(void (*check)(void* argument), const void* argument, size_t size,
                       HANDLE output) {
  const PROCESS_INFORMATION process = start_process(check, argument, size, output);
  DWORD code = 0;
  if (WaitForSingleObject(process.hProcess, PATIENT_MS) != WAIT_OBJECT_0) {
    TerminateProcess(process.hProcess, FAILED);
    fail_msg("the child hung");
  }
  assert_true(GetExitCodeProcess(process.hProcess, &code));
  CloseHandle(process.hProcess);
  return code;
}

void assert_child_with_copy(void (*check)(void* argument), void* argument, size_t size) {
  assert_int_equal(run_check(check, argument, size, NULL), 0);
}

void assert_silent(void (*check)(void* argument)) {
  char folder[MAX_PATH + 1], path[MAX_PATH + 1], text[1024] = "";
  DWORD length = 0;
  SECURITY_ATTRIBUTES inherited = {.nLength = sizeof inherited, .bInheritHandle = TRUE};
  assert_in_range(GetTempPathA(sizeof folder, folder), 1, sizeof folder - 1);
  assert_int_not_equal(GetTempFileNameA(folder, "hmn", 0, path), 0);
  const HANDLE output =
      CreateFileA(path, GENERIC_READ | GENERIC_WRITE, FILE_SHARE_READ | FILE_SHARE_WRITE,
                  &inherited, CREATE_ALWAYS, FILE_FLAG_DELETE_ON_CLOSE, NULL);
  assert_ptr_not_equal(output, INVALID_HANDLE_VALUE);
  const DWORD outcome = run_check(check, NULL, 0, output);
  SetFilePointer(output, 0, NULL, FILE_BEGIN);
  assert_true(ReadFile(output, text, sizeof text - 1, &length, NULL));
  CloseHandle(output);
  assert_string_equal(text, "");
  assert_int_equal(outcome, 0);
}

struct child {
  PROCESS_INFORMATION information;
};

child* child_start(void (*run)(void* argument)) {
  child* process = malloc(sizeof *process);
  assert_non_null(process);
  process->information = start_process(run, NULL, 0, NULL);
  const HANDLE ready = ready_event(process->information.dwProcessId);
  assert_int_equal(WaitForSingleObject(ready, PATIENT_MS), WAIT_OBJECT_0);
  CloseHandle(ready);
  return process;
}

void child_ready(void) {
  SetEvent(ready_event(own_pid()));
}

uint32_t child_pid(const child* process) {
  return process->information.dwProcessId;
}

void child_kill(child* process) {
  TerminateProcess(process->information.hProcess, FAILED);
  assert_int_equal(WaitForSingleObject(process->information.hProcess, PATIENT_MS), WAIT_OBJECT_0);
}

void child_reap(child* process) {
  CloseHandle(process->information.hProcess);
  free(process);
}
