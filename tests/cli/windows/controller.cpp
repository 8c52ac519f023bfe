// SPDX-License-Identifier: MIT OR Apache-2.0
// controller [--console] EVENT[,EVENT] PROGRAM WORD...: runs a program and gives it an event of a
// console's once it has written its first line: ctrl-c, ctrl-break or close. What it writes is
// passed on, its exit code returned.
//
// An event comes as the system brings it, in a thread of the process that begins in CtrlRoutine.
// With --console it comes through a console, which Wine 8 has for Ctrl+C alone. A second event
// comes when the program can write no more: no one reads until it has ended.
#include <windows.h>

#include <cstddef>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <cwchar>
#include <memory>
#include <string>
#include <vector>

namespace {

using Words = std::vector<std::wstring>;

// Less than a sample of many cards, of which the rest waits for a reader.
constexpr DWORD pipe_bytes = 4096;

[[noreturn]] void fail(const char* what) {
  std::fprintf(stderr, "controller: %s: error %lu\n", what, GetLastError());
  std::exit(99);
}

void check(bool is_good, const char* what) {
  if (!is_good) fail(what);
}

struct Program {
  HANDLE process;
  HANDLE output;
};

std::wstring line_of(const Words& all) {
  std::wstring line;
  for (const auto& each : all) line += L"\"" + each + L"\" ";
  return line;
}

STARTUPINFOEXW streams(HANDLE output) {
  STARTUPINFOEXW how{};
  how.StartupInfo.cb = sizeof how.StartupInfo;
  how.StartupInfo.dwFlags = STARTF_USESTDHANDLES;
  how.StartupInfo.hStdInput = GetStdHandle(STD_INPUT_HANDLE);
  how.StartupInfo.hStdOutput = output;
  how.StartupInfo.hStdError = GetStdHandle(STD_ERROR_HANDLE);
  return how;
}

HANDLE start(const Words& all, STARTUPINFOEXW& how, DWORD flags) {
  auto line = line_of(all);
  PROCESS_INFORMATION started{};
  check(CreateProcessW(nullptr, line.data(), nullptr, nullptr, TRUE, flags, nullptr, nullptr,
                       &how.StartupInfo, &started) != 0,
        "CreateProcess");
  CloseHandle(started.hThread);
  return started.hProcess;
}

Program start_with_pipe(const Words& all) {
  HANDLE output = nullptr, input = nullptr;
  check(CreatePipe(&output, &input, nullptr, pipe_bytes) != 0, "CreatePipe");
  SetHandleInformation(input, HANDLE_FLAG_INHERIT, HANDLE_FLAG_INHERIT);
  auto how = streams(input);
  const auto process = start(all, how, 0);
  CloseHandle(input);
  return {process, output};
}

bool pass_on(HANDLE from, char& last) {
  DWORD length = 0, written = 0;
  if (ReadFile(from, &last, 1, &length, nullptr) == 0 || length == 0) return false;
  return WriteFile(GetStdHandle(STD_OUTPUT_HANDLE), &last, 1, &written, nullptr) != 0;
}

void pass_on_a_line(HANDLE from) {
  for (char last = 0; last != '\n';) check(pass_on(from, last), "no first line");
}

void wait_until_full(HANDLE pipe) {
  for (DWORD held = 0; held < pipe_bytes; Sleep(20)) {
    check(PeekNamedPipe(pipe, nullptr, 0, nullptr, &held, nullptr) != 0, "PeekNamedPipe");
  }
}

void* routine() {
  const auto address = GetProcAddress(GetModuleHandleW(L"kernel32"), "CtrlRoutine");
  check(address != nullptr, "CtrlRoutine");
  void* start = nullptr;
  static_assert(sizeof start == sizeof address);
  std::memcpy(&start, &address, sizeof start);
  return start;
}

DWORD event_of(const std::wstring& name) {
  if (name == L"ctrl-c") return CTRL_C_EVENT;
  if (name == L"ctrl-break") return CTRL_BREAK_EVENT;
  check(name == L"close", "no such event");
  return CTRL_CLOSE_EVENT;
}

// Where the system's own libraries lie, they lie in each process.
void bring(HANDLE process, DWORD event) {
  LPTHREAD_START_ROUTINE start = nullptr;
  void* const address = routine();
  std::memcpy(&start, &address, sizeof start);
  const auto thread = CreateRemoteThread(
      process, nullptr, 0, start, reinterpret_cast<void*>(std::uintptr_t{event}), 0, nullptr);
  check(thread != nullptr, "CreateRemoteThread");
  CloseHandle(thread);
}

BOOL WINAPI survive(DWORD) {
  return TRUE;
}

void bring_by_console(DWORD event) {
  SetConsoleCtrlHandler(survive, TRUE);
  check(GenerateConsoleCtrlEvent(event, 0) != 0, "GenerateConsoleCtrlEvent");
}

int end_of(HANDLE process) {
  WaitForSingleObject(process, INFINITE);
  DWORD code = 0;
  GetExitCodeProcess(process, &code);
  return static_cast<int>(code);
}

int run(const std::wstring& events, bool has_console, const Words& command) {
  const auto started = start_with_pipe(command);
  pass_on_a_line(started.output);
  const auto comma = events.find(L',');
  const bool is_twice = comma != std::wstring::npos;
  if (is_twice) wait_until_full(started.output);
  const auto event = event_of(events.substr(0, comma));
  has_console ? bring_by_console(event) : bring(started.process, event);
  if (is_twice) {
    Sleep(300);
    bring(started.process, event_of(events.substr(comma + 1)));
    return end_of(started.process);
  }
  for (char last = 0; pass_on(started.output, last);) continue;
  return end_of(started.process);
}

// This program once more, in a pseudo console whose screen is not read.
int run_in_console(Words all) {
  HANDLE input = nullptr, typed = nullptr, screen = nullptr, drawn = nullptr;
  check(CreatePipe(&input, &typed, nullptr, 0) != 0, "CreatePipe");
  check(CreatePipe(&drawn, &screen, nullptr, 0) != 0, "CreatePipe");
  HPCON console = nullptr;
  check(CreatePseudoConsole({120, 40}, input, screen, 0, &console) == S_OK, "CreatePseudoConsole");
  SIZE_T size = 0;
  InitializeProcThreadAttributeList(nullptr, 1, 0, &size);
  const auto buffer = std::make_unique<std::max_align_t[]>(size / sizeof(std::max_align_t) + 1);
  auto how = streams(GetStdHandle(STD_OUTPUT_HANDLE));
  how.StartupInfo.cb = sizeof how;
  how.lpAttributeList = reinterpret_cast<LPPROC_THREAD_ATTRIBUTE_LIST>(buffer.get());
  check(InitializeProcThreadAttributeList(how.lpAttributeList, 1, 0, &size) != 0 &&
            UpdateProcThreadAttribute(how.lpAttributeList, 0, PROC_THREAD_ATTRIBUTE_PSEUDOCONSOLE,
                                      console, sizeof console, nullptr, nullptr) != 0,
        "the list of attributes");
  all.front() = L"--in-console";
  wchar_t self[MAX_PATH];
  GetModuleFileNameW(nullptr, self, MAX_PATH);
  all.insert(all.begin(), self);
  const int code = end_of(start(all, how, EXTENDED_STARTUPINFO_PRESENT));
  ClosePseudoConsole(console);
  return code;
}

}  // namespace

int wmain(int argc, wchar_t** argv) {
  const Words all(argv + 1, argv + argc);
  check(all.size() > 2, "usage");
  if (all.front() == L"--console") return run_in_console(all);
  const bool has_console = all.front() == L"--in-console";
  const auto events = all.begin() + (has_console ? 1 : 0);
  return run(*events, has_console, Words(events + 1, all.end()));
}
