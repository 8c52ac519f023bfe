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

using QueryFunction = LONG(WINAPI*)(HANDLE, ULONG, void*, ULONG, ULONG*);

QueryFunction find_query_function() noexcept {
  const HMODULE ntdll = GetModuleHandleW(L"ntdll.dll");
  const auto address =
      ntdll != nullptr ? GetProcAddress(ntdll, "NtQueryInformationProcess") : nullptr;
  return reinterpret_cast<QueryFunction>(reinterpret_cast<void*>(address));
}

Failure make_no_process_failure(std::uint32_t pid, std::string_view detail) {
  return {Status::no_process, Source::os, {}, {"process ", pid, detail}};
}

Failure make_open_failure(std::uint32_t pid, DWORD error) {
  if (error == ERROR_INVALID_PARAMETER) return make_no_process_failure(pid, " does not exist");
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
constexpr ULONG max_command_bytes = 65536 + sizeof(CountedString);
constexpr std::size_t max_command_length = 4096;  // characters

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
// A running process has no value of 0, so 0 means unknown.
std::optional<std::uint64_t> none_if_zero(std::uint64_t bytes) noexcept {
  return bytes != 0 ? std::optional(bytes) : std::nullopt;
}

namespace field = process_memory_field;

constexpr std::uint32_t counter_fields = field::resident | field::peak_resident | field::committed |
                                         field::peak_committed | field::private_set;

constexpr std::uint32_t unsupported_fields =
    field::swap | field::proportional | field::footprint | field::peak_footprint;

Failure make_unsupported_failure(const MessageText& message) {
  return {Status::unsupported, Source::os, {}, message};
}

Failure make_counters_failure(DWORD error) {
  return {Status::backend,
          Source::os,
          {NativeDomain::win32, static_cast<std::int32_t>(error)},
          {"GetProcessMemoryInfo fails with error ", std::uint64_t{error}}};
}

// Keeps the first of several failures.
class FirstFailure {
 public:
  void add(const Failure& failure) {
    if (!failure_) failure_ = failure;
  }
  void require(bool is_requested, bool is_present, std::string_view message) {
    if (is_requested && !is_present && !failure_) failure_ = make_unsupported_failure(message);
  }
  std::optional<Failure>& get() noexcept { return failure_; }

 private:
  std::optional<Failure> failure_;
};

}  // namespace

std::optional<std::uint64_t> read_start_unix_ns(HANDLE process) noexcept {
  FILETIME created;
  FILETIME exited;
  FILETIME kernel;
  FILETIME user;
  if (!GetProcessTimes(process, &created, &exited, &kernel, &user)) return std::nullopt;
  return convert_file_time(created);
}

bool query_process(HANDLE process, ULONG information_class, void* buffer, ULONG size,
                   ULONG* required_size) noexcept {
  static const QueryFunction query = find_query_function();
  return query != nullptr && query(process, information_class, buffer, size, required_size) >= 0;
}

Result<ProcessHandle> ProcessHandle::open(std::uint32_t pid) {
  platform::Handle handle(OpenProcess(PROCESS_QUERY_LIMITED_INFORMATION, FALSE, pid));
  if (!handle) return make_open_failure(pid, GetLastError());
  // Windows ignores the lowest two bits of a pid.
  if (GetProcessId(handle.get()) != pid) return make_no_process_failure(pid, " does not exist");
  if (has_exited(handle.get())) return make_no_process_failure(pid, " has exited");
  return ProcessHandle(std::move(handle));
}

std::string ProcessHandle::image_path() const {
  std::array<wchar_t, 4096> path;
  auto length = static_cast<DWORD>(path.size());
  if (!QueryFullProcessImageNameW(handle_.get(), 0, path.data(), &length)) return {};
  return platform::to_utf8(std::wstring_view(path.data(), length));
}

std::string read_command_line(HANDLE process) {
  ULONG size = 0;
  query_process(process, process_command_line, nullptr, 0, &size);
  if (size < sizeof(CountedString) || size > max_command_bytes) return {};
  const auto buffer = std::make_unique<CountedString[]>(size / sizeof(CountedString) + 1);
  if (!query_process(process, process_command_line, buffer.get(), size, nullptr)) return {};
  const CountedString& command_line = buffer[0];
  if (command_line.text == nullptr) return {};
  const std::wstring_view text(command_line.text, command_line.bytes / sizeof(wchar_t));
  return platform::to_utf8(text.substr(0, max_command_length));
}

bool read_counters(HANDLE process, ProcessCounters& counters) noexcept {
  CountersEx2 native_counters{};
  auto* const buffer = reinterpret_cast<PROCESS_MEMORY_COUNTERS*>(&native_counters.ex);
  if (!K32GetProcessMemoryInfo(process, buffer, sizeof native_counters) &&
      !K32GetProcessMemoryInfo(process, buffer, sizeof native_counters.ex)) {
    return false;
  }
  counters.working_set = native_counters.ex.WorkingSetSize;
  counters.peak_working_set = native_counters.ex.PeakWorkingSetSize;
  counters.private_usage = none_if_zero(native_counters.ex.PrivateUsage);
  counters.peak_private_usage = none_if_zero(native_counters.ex.PeakPagefileUsage);
  counters.private_working_set = none_if_zero(native_counters.private_working_set);
  return true;
}

std::optional<std::uint64_t> read_virtual_size(HANDLE process) noexcept {
  VmCounters counters{};
  if (!query_process(process, process_vm_counters, &counters, sizeof counters, nullptr))
    return std::nullopt;
  return none_if_zero(counters.virtual_size);
}

Result<void> read_process_memory(HANDLE process, FieldSet fields, ProcessMemory& memory) {
  FirstFailure first_failure;
  FieldSet present_fields = 0;
  const auto store = [&](FieldSet bit, const std::optional<std::uint64_t>& value,
                         std::optional<std::uint64_t>& target, std::string_view message) {
    if ((fields & bit) == 0) return;
    first_failure.require(true, value.has_value(), message);
    target = value;
    present_fields |= value ? bit : 0;
  };
  ProcessCounters counters;
  if ((fields & counter_fields) != 0) {
    if (!read_counters(process, counters)) {
      first_failure.add(make_counters_failure(GetLastError()));
    } else {
      store(field::resident, counters.working_set, memory.resident, {});
      store(field::peak_resident, counters.peak_working_set, memory.peak_resident, {});
      store(field::committed, counters.private_usage, memory.committed,
            "private bytes of a process are not reported by this system");
      store(field::peak_committed, counters.peak_private_usage, memory.peak_committed,
            "peak private bytes of a process are not reported by this system");
      store(field::private_set, counters.private_working_set, memory.private_set,
            "the private working set of a process is reported only since Windows 10 22H2");
    }
  }
  if ((fields & field::virtual_size) != 0) {
    store(field::virtual_size, read_virtual_size(process), memory.virtual_size,
          "the address space of a process is not reported by this system");
  }
  if ((fields & field::process_key) != 0) {
    std::optional<std::uint64_t> key = read_start_unix_ns(process);
    if (key) key = make_process_key(0, *key, GetProcessId(process));
    store(field::process_key, key, memory.process_key,
          "the start time of this process is not reported by this system");
  }
  first_failure.require(
      (fields & unsupported_fields) != 0, false,
      "Windows does not report the swapped pages, PSS or footprint of a process");
  if (present_fields == 0) return *first_failure.get();
  if (first_failure.get()) memory.notes |= note::partial;
  return {};
}

}  // namespace hmn::os
