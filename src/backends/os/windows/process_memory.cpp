// SPDX-License-Identifier: MIT OR Apache-2.0
#include "backends/os/windows/process_memory.hpp"

#include <psapi.h>

#include <algorithm>
#include <array>
#include <cstddef>
#include <memory>
#include <optional>
#include <utility>

#include "model/process_key.hpp"
#include "platform/windows/system.hpp"

namespace hmn::os {
namespace {

using Function = LONG(WINAPI*)(HANDLE, ULONG, void*, ULONG, ULONG*);

Function find() noexcept {
  const HMODULE ntdll = GetModuleHandleW(L"ntdll.dll");
  const auto found =
      ntdll != nullptr ? GetProcAddress(ntdll, "NtQueryInformationProcess") : nullptr;
  return reinterpret_cast<Function>(reinterpret_cast<void*>(found));
}

Failure no_process(std::uint32_t pid, std::string_view rest) {
  return {Status::no_process, Source::os, {}, {"process ", pid, rest}};
}

Failure why_not_opened(std::uint32_t pid, DWORD error) {
  if (error == ERROR_INVALID_PARAMETER) return no_process(pid, " does not exist");
  const NativeCode native{NativeDomain::win32, static_cast<std::int32_t>(error)};
  if (error == ERROR_ACCESS_DENIED) {
    return {Status::permission,
            Source::os,
            native,
            {"process ", pid,
             " is not readable: it is protected, or another user's; run as administrator to read "
             "the latter"}};
  }
  return {Status::backend,
          Source::os,
          native,
          {"process ", pid, " cannot be opened (error ", std::uint64_t{error}, ")"}};
}

bool has_exited(HANDLE process) noexcept {
  DWORD code = STILL_ACTIVE;
  return GetExitCodeProcess(process, &code) && code != STILL_ACTIVE;
}

// UNICODE_STRING, followed by its text.
struct CountedString {
  USHORT bytes;
  USHORT capacity;
  const wchar_t* text;
};

constexpr ULONG process_command_line = 60;  // since Windows 8.1
constexpr ULONG most_bytes = 65536 + sizeof(CountedString);
constexpr std::size_t longest = 4096;  // characters

// PROCESS_MEMORY_COUNTERS_EX2, which older headers lack; older systems leave its end unchanged.
struct CountersEx2 {
  PROCESS_MEMORY_COUNTERS_EX ex;
  SIZE_T private_working_set;
  ULONG64 shared_commit;
};
static_assert(offsetof(CountersEx2, private_working_set) == sizeof(PROCESS_MEMORY_COUNTERS_EX));

// ntddk.h: VM_COUNTERS, class 3 of NtQueryInformationProcess.
struct VmCounters {
  SIZE_T peak_virtual_size;
  SIZE_T virtual_size;
  ULONG page_faults;
  SIZE_T rest[8];
};
static_assert(sizeof(VmCounters) == 88);
constexpr ULONG process_vm_counters = 3;
// A running process has no value of 0: that is unknown.
std::optional<std::uint64_t> reported(std::uint64_t bytes) noexcept {
  return bytes != 0 ? std::optional(bytes) : std::nullopt;
}

namespace field = process_memory_field;

constexpr std::uint32_t counted = field::resident | field::peak_resident | field::committed |
                                  field::peak_committed | field::private_set;

constexpr std::uint32_t uncounted =
    field::swap | field::proportional | field::footprint | field::peak_footprint;

Failure unsupported(const MessageText& message) {
  return {Status::unsupported, Source::os, {}, message};
}

Failure refused(DWORD error) {
  return {Status::backend,
          Source::os,
          {NativeDomain::win32, static_cast<std::int32_t>(error)},
          {"GetProcessMemoryInfo fails with error ", std::uint64_t{error}}};
}

// Keeps the first of several failures.
class FirstFailure {
 public:
  void note(const Failure& why) {
    if (!why_) why_ = why;
  }
  void wanted(bool is_wanted, bool is_there, std::string_view why) {
    if (is_wanted && !is_there && !why_) why_ = unsupported(why);
  }
  std::optional<Failure>& get() noexcept { return why_; }

 private:
  std::optional<Failure> why_;
};

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
  static const Function query = find();
  return query != nullptr && query(process, what, buffer, size, needed) >= 0;
}

Result<OpenedProcess> OpenedProcess::open(std::uint32_t pid) {
  platform::Handle h(OpenProcess(PROCESS_QUERY_LIMITED_INFORMATION, FALSE, pid));
  if (!h) return why_not_opened(pid, GetLastError());
  // Windows ignores the lowest two bits of a pid.
  if (GetProcessId(h.get()) != pid) return no_process(pid, " does not exist");
  if (has_exited(h.get())) return no_process(pid, " has exited");
  return OpenedProcess(std::move(h));
}

std::string OpenedProcess::image_path() const {
  std::array<wchar_t, 4096> path;
  auto length = static_cast<DWORD>(path.size());
  if (!QueryFullProcessImageNameW(handle_.get(), 0, path.data(), &length)) return {};
  return platform::to_utf8(std::wstring_view(path.data(), length));
}

std::string command_text(HANDLE process) {
  ULONG needed = 0;
  query_process(process, process_command_line, nullptr, 0, &needed);
  if (needed < sizeof(CountedString) || needed > most_bytes) return {};
  const auto buffer = std::make_unique<CountedString[]>(needed / sizeof(CountedString) + 1);
  if (!query_process(process, process_command_line, buffer.get(), needed, nullptr)) return {};
  const CountedString& found = buffer[0];
  if (found.text == nullptr) return {};
  const std::wstring_view text(found.text, found.bytes / sizeof(wchar_t));
  return platform::to_utf8(text.substr(0, longest));
}

bool read_counters(HANDLE process, ProcessCounters& out) noexcept {
  CountersEx2 found{};
  auto* const buffer = reinterpret_cast<PROCESS_MEMORY_COUNTERS*>(&found.ex);
  if (!K32GetProcessMemoryInfo(process, buffer, sizeof found) &&
      !K32GetProcessMemoryInfo(process, buffer, sizeof found.ex)) {
    return false;
  }
  out.working_set = found.ex.WorkingSetSize;
  out.peak_working_set = found.ex.PeakWorkingSetSize;
  out.private_usage = reported(found.ex.PrivateUsage);
  out.peak_private_usage = reported(found.ex.PeakPagefileUsage);
  out.private_working_set = reported(found.private_working_set);
  return true;
}

std::optional<std::uint64_t> read_virtual_size(HANDLE process) noexcept {
  VmCounters found{};
  if (!query_process(process, process_vm_counters, &found, sizeof found, nullptr))
    return std::nullopt;
  return reported(found.virtual_size);
}

Result<void> read_process_memory(HANDLE process, FieldSet fields, ProcessMemory& out) {
  FirstFailure missing;
  FieldSet had = 0;
  const auto take = [&](FieldSet bit, const std::optional<std::uint64_t>& value,
                        std::optional<std::uint64_t>& into, std::string_view why) {
    if ((fields & bit) == 0) return;
    missing.wanted(true, value.has_value(), why);
    into = value;
    had |= value ? bit : 0;
  };
  ProcessCounters c;
  if ((fields & counted) != 0) {
    if (!read_counters(process, c)) {
      missing.note(refused(GetLastError()));
    } else {
      take(field::resident, c.working_set, out.resident, {});
      take(field::peak_resident, c.peak_working_set, out.peak_resident, {});
      take(field::committed, c.private_usage, out.committed,
           "private bytes of a process are not reported by this system");
      take(field::peak_committed, c.peak_private_usage, out.peak_committed,
           "peak private bytes of a process are not reported by this system");
      take(field::private_set, c.private_working_set, out.private_set,
           "the private working set of a process is not reported by this Windows, but by 10 22H2");
    }
  }
  if ((fields & field::virtual_size) != 0) {
    take(field::virtual_size, read_virtual_size(process), out.virtual_size,
         "the address space of a process is not reported by this system");
  }
  if ((fields & field::process_key) != 0) {
    std::optional<std::uint64_t> key = start_unix_ns(process);
    if (key) key = process_key(0, *key, GetProcessId(process));
    take(field::process_key, key, out.process_key,
         "the start time of this process is not reported by this system");
  }
  missing.wanted((fields & uncounted) != 0, false,
                 "Windows counts of a process no swapped pages, no share of shared pages and no "
                 "footprint");
  if (had == 0) return *missing.get();
  if (missing.get()) out.notes |= note::partial;
  return {};
}

}  // namespace hmn::os
