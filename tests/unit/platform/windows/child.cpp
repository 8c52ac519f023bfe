// SPDX-License-Identifier: MIT OR Apache-2.0
//
// The program that the subprocess tests start; its first argument selects the action.
#include <windows.h>

#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <string>

namespace {

void print_wide(const wchar_t* text) {
  char utf8[4096];
  WideCharToMultiByte(CP_UTF8, 0, text, -1, utf8, sizeof utf8, nullptr, nullptr);
  std::printf("[%s]\n", utf8);
}

void print_environment() {
  wchar_t* const block = GetEnvironmentStringsW();
  for (const wchar_t* variable = block; *variable != L'\0'; variable += std::wcslen(variable) + 1) {
    if (*variable != L'=') print_wide(variable);
  }
  FreeEnvironmentStringsW(block);
}

// Starts another instance, which keeps the output open and sleeps.
void start_sleeper() {
  wchar_t path[MAX_PATH];
  GetModuleFileNameW(nullptr, path, MAX_PATH);
  std::wstring line = L"\"" + std::wstring(path) + L"\" sleep";
  STARTUPINFOW startup{};
  startup.cb = sizeof startup;
  PROCESS_INFORMATION process{};
  if (!CreateProcessW(path, line.data(), nullptr, nullptr, TRUE, 0, nullptr, nullptr, &startup,
                      &process)) {
    std::exit(2);
  }
  std::printf("%lu\n", process.dwProcessId);
}

}  // namespace

int wmain(int count, wchar_t** arguments) {
  const std::wstring action = count > 1 ? arguments[1] : L"";
  if (action == L"exit") return static_cast<int>(std::wcstol(arguments[2], nullptr, 10));
  if (action == L"sleep") Sleep(600'000);
  if (action == L"arguments") {
    for (int i = 2; i < count; ++i) print_wide(arguments[i]);
  }
  if (action == L"environment") print_environment();
  if (action == L"flood") {
    for (long i = std::wcstol(arguments[2], nullptr, 10); i > 0; --i) std::putchar('x');
  }
  if (action == L"errors") std::fputs("words", stderr);
  if (action == L"input") return std::getchar() == EOF ? 5 : 6;
  if (action == L"handle") {
    const auto number = std::wcstoull(arguments[2], nullptr, 10);
    DWORD flags = 0;
    return GetHandleInformation(reinterpret_cast<HANDLE>(number), &flags) ? 1 : 0;
  }
  if (action == L"parent") {
    start_sleeper();
    std::fflush(stdout);
    Sleep(600'000);
  }
  return 0;
}
