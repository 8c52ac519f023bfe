// SPDX-License-Identifier: MIT OR Apache-2.0
//
// What the tests of subprocess start: its first argument selects what it does.
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
  for (const wchar_t* at = block; *at != L'\0'; at += std::wcslen(at) + 1) {
    if (*at != L'=') print_wide(at);
  }
  FreeEnvironmentStringsW(block);
}

// Another of its kind, which holds the output and goes on.
void start_sleeper() {
  wchar_t path[MAX_PATH];
  GetModuleFileNameW(nullptr, path, MAX_PATH);
  std::wstring line = L"\"" + std::wstring(path) + L"\" sleep";
  STARTUPINFOW startup{};
  startup.cb = sizeof startup;
  PROCESS_INFORMATION made{};
  if (!CreateProcessW(path, line.data(), nullptr, nullptr, TRUE, 0, nullptr, nullptr, &startup,
                      &made)) {
    std::exit(2);
  }
  std::printf("%lu\n", made.dwProcessId);
}

}  // namespace

int wmain(int count, wchar_t** arguments) {
  const std::wstring what = count > 1 ? arguments[1] : L"";
  if (what == L"exit") return static_cast<int>(std::wcstol(arguments[2], nullptr, 10));
  if (what == L"sleep") Sleep(600'000);
  if (what == L"arguments") {
    for (int i = 2; i < count; ++i) print_wide(arguments[i]);
  }
  if (what == L"environment") print_environment();
  if (what == L"flood") {
    for (long i = std::wcstol(arguments[2], nullptr, 10); i > 0; --i) std::putchar('x');
  }
  if (what == L"errors") std::fputs("words", stderr);
  if (what == L"input") return std::getchar() == EOF ? 5 : 6;
  if (what == L"handle") {
    const auto number = std::wcstoull(arguments[2], nullptr, 10);
    DWORD flags = 0;
    return GetHandleInformation(reinterpret_cast<HANDLE>(number), &flags) ? 1 : 0;
  }
  if (what == L"parent") {
    start_sleeper();
    std::fflush(stdout);
    Sleep(600'000);
  }
  return 0;
}
