// SPDX-License-Identifier: MIT OR Apache-2.0
// A program of Windows that hmn runs; its first word selects what it does.
#include <windows.h>

#include <cstdio>
#include <cstdlib>
#include <cwchar>
#include <string>
#include <vector>

namespace {

using Words = std::vector<std::wstring>;

void print(const std::wstring& text) {
  char bytes[4096];
  const int length = WideCharToMultiByte(CP_UTF8, 0, text.data(), static_cast<int>(text.size()),
                                         bytes, sizeof bytes, nullptr, nullptr);
  DWORD written = 0;
  WriteFile(GetStdHandle(STD_OUTPUT_HANDLE), bytes, static_cast<DWORD>(length), &written, nullptr);
}

int print_words(const Words& all) {
  for (std::size_t i = 1; i < all.size(); ++i) print(L"[" + all[i] + L"]\n");
  return 0;
}

int print_variable(const Words& all) {
  wchar_t value[256] = L"";
  GetEnvironmentVariableW(all.at(1).c_str(), value, 256);
  print(std::wstring(value) + L"\n");
  return 0;
}

int hold(const Words& all) {
  std::vector<char> held(std::wcstoul(all.at(1).c_str(), nullptr, 0) << 20);
  for (std::size_t i = 0; i < held.size(); i += 4096) held[i] = 1;
  Sleep(1000);
  return 0;
}

int pause(const Words& all) {
  print(L"here\n");
  Sleep(std::wcstoul(all.at(1).c_str(), nullptr, 0));
  print(L"there\n");
  return 5;
}

HANDLE start(std::wstring line) {
  STARTUPINFOW how{};
  how.cb = sizeof how;
  how.dwFlags = STARTF_USESTDHANDLES;
  how.hStdInput = GetStdHandle(STD_INPUT_HANDLE);
  how.hStdOutput = GetStdHandle(STD_OUTPUT_HANDLE);
  how.hStdError = GetStdHandle(STD_ERROR_HANDLE);
  PROCESS_INFORMATION started{};
  if (CreateProcessW(nullptr, line.data(), nullptr, nullptr, TRUE, 0, nullptr, nullptr, &how,
                     &started) == 0)
    std::exit(99);
  CloseHandle(started.hThread);
  return started.hProcess;
}

int end_of(HANDLE process) {
  WaitForSingleObject(process, INFINITE);
  DWORD code = 0;
  GetExitCodeProcess(process, &code);
  return static_cast<int>(code);
}

std::wstring line_of(const Words& all) {
  std::wstring line;
  for (std::size_t i = 1; i < all.size(); ++i) line += L"\"" + all[i] + L"\" ";
  return line;
}

int start_self(const Words& all) {
  wchar_t self[MAX_PATH];
  GetModuleFileNameW(nullptr, self, MAX_PATH);
  return end_of(start(L"\"" + std::wstring(self) + L"\" " + line_of(all)));
}

}  // namespace

int wmain(int argc, wchar_t** argv) {
  const Words all(argv + 1, argv + argc);
  const auto what = all.at(0);
  if (what == L"exit") return static_cast<int>(std::wcstoul(all.at(1).c_str(), nullptr, 0));
  if (what == L"words") return print_words(all);
  if (what == L"variable") return print_variable(all);
  if (what == L"hold") return hold(all);
  if (what == L"pause") return pause(all);
  if (what == L"start") return start_self(all);
  return 98;
}
