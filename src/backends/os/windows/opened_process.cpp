// SPDX-License-Identifier: MIT OR Apache-2.0
#include "backends/os/windows/opened_process.hpp"

#include <algorithm>
#include <array>
#include <memory>
#include <utility>

#include "platform/windows/system.hpp"

namespace hmn::os {
namespace {

using function = LONG(WINAPI*)(HANDLE, ULONG, void*, ULONG, ULONG*);

function find() noexcept {
  const HMODULE ntdll = GetModuleHandleW(L"ntdll.dll");
  const auto found =
      ntdll != nullptr ? GetProcAddress(ntdll, "NtQueryInformationProcess") : nullptr;
  return reinterpret_cast<function>(reinterpret_cast<void*>(found));
}

failure no_process(std::uint32_t pid, std::string_view rest) {
  return {status::no_process, source::os, {}, {"process ", pid, rest}};
}

failure why_not_opened(std::uint32_t pid, DWORD error) {
  if (error == ERROR_INVALID_PARAMETER) return no_process(pid, " does not exist");
  const native_code native{native_domain::win32, static_cast<std::int32_t>(error)};
  if (error == ERROR_ACCESS_DENIED) {
    return {status::permission,
            source::os,
            native,
            {"process ", pid,
             " is not readable: it is protected, or another user's; run as administrator to read "
             "the latter"}};
  }
  return {status::backend,
          source::os,
          native,
          {"process ", pid, " cannot be opened (error ", std::uint64_t{error}, ")"}};
}

bool has_exited(HANDLE process) noexcept {
  DWORD code = STILL_ACTIVE;
  return GetExitCodeProcess(process, &code) && code != STILL_ACTIVE;
}

// UNICODE_STRING, followed by its text.
struct counted_string {
  USHORT bytes;
  USHORT capacity;
  const wchar_t* text;
};

constexpr ULONG process_command_line = 60;  // since Windows 8.1
constexpr ULONG most_bytes = 65536 + sizeof(counted_string);
constexpr std::size_t longest = 4096;  // maximum number of characters

}  // namespace

std::optional<std::uint64_t> start_unix_ns(HANDLE process) noexcept {
  FILETIME created;
  FILETIME exited;
  FILETIME kernel;
  FILETIME user;
  if (!GetProcessTimes(process, &created, &exited, &kernel, &user)) return std::nullopt;
  return unix_ns(created);
}

bool query_process(HANDLE process, ULONG what, void* buffer, ULONG size, ULONG* needed) noexcept {
  static const function query = find();
  return query != nullptr && query(process, what, buffer, size, needed) >= 0;
}

result<opened_process> opened_process::open(std::uint32_t pid) {
  platform::handle h(OpenProcess(PROCESS_QUERY_LIMITED_INFORMATION, FALSE, pid));
  if (!h) return why_not_opened(pid, GetLastError());
  // The lowest two bits of a pid are ignored.
  if (GetProcessId(h.get()) != pid) return no_process(pid, " does not exist");
  if (has_exited(h.get())) return no_process(pid, " has exited");
  return opened_process(std::move(h));
}

std::string opened_process::image_path() const {
  std::array<wchar_t, 4096> path;
  auto length = static_cast<DWORD>(path.size());
  if (!QueryFullProcessImageNameW(handle_.get(), 0, path.data(), &length)) return {};
  return platform::to_utf8(std::wstring_view(path.data(), length));
}

std::string command_text(HANDLE process) {
  ULONG needed = 0;
  query_process(process, process_command_line, nullptr, 0, &needed);
  if (needed < sizeof(counted_string) || needed > most_bytes) return {};
  const auto buffer = std::make_unique<counted_string[]>(needed / sizeof(counted_string) + 1);
  if (!query_process(process, process_command_line, buffer.get(), needed, nullptr)) return {};
  const counted_string& found = buffer[0];
  if (found.text == nullptr) return {};
  const std::wstring_view text(found.text, found.bytes / sizeof(wchar_t));
  return platform::to_utf8(text.substr(0, longest));
}

}  // namespace hmn::os
