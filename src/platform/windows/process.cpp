// SPDX-License-Identifier: MIT OR Apache-2.0
#include "platform/process.hpp"

#include <windows.h>

#include <algorithm>
#include <array>

#include "platform/system_override.hpp"
#include "platform/windows/system.hpp"

namespace hmn::platform {
namespace {

constexpr size_t max_value_size = 4096;  // longer than any setting; longer values are cut
constexpr size_t max_system_value_size = 32768;

// UTF-8 copy of the system's UTF-16, valid until the thread's next call.
constinit thread_local char value_copy[3 * max_value_size + 1] = {};

}  // namespace

uint32_t current_pid() noexcept {
  return GetCurrentProcessId();
}

bool has_pid_namespaces() noexcept {
  return false;
}

size_t page_size() noexcept {
  SYSTEM_INFO info;
  GetSystemInfo(&info);
  const SystemOverride* const active = SystemOverride::active();
  return active != nullptr ? active->page_size(info.dwPageSize) : info.dwPageSize;
}

// The unit of FILETIME, which process times are in.
uint64_t clock_ticks_per_second() noexcept {
  return 10'000'000;
}

std::string host_name() {
  std::array<wchar_t, 256> name;  // DNS_MAX_NAME_BUFFER_LENGTH
  auto length = static_cast<DWORD>(name.size());
  if (!GetComputerNameExW(ComputerNameDnsHostname, name.data(), &length)) return {};
  return to_utf8(std::wstring_view(name.data(), length));
}

// Windows starts no program with more rights than its starter. An elevated program is started by a
// service, with the user's environment from the registry: that is like sudo, and unlike
// set-user-id, whose caller controls the environment.
bool is_privileged_start() noexcept {
  return false;
}

const char* environment(const char* name) noexcept {
  std::array<wchar_t, 128> wide_name;
  std::array<wchar_t, max_system_value_size> value;
  size_t i = 0;
  for (; name[i] != '\0' && i + 1 < wide_name.size(); ++i) {
    wide_name[i] = static_cast<unsigned char>(name[i]);
  }
  wide_name[i] = L'\0';
  SetLastError(ERROR_SUCCESS);
  const DWORD length =
      GetEnvironmentVariableW(wide_name.data(), value.data(), static_cast<DWORD>(value.size()));
  if (length == 0 && GetLastError() != ERROR_SUCCESS) return nullptr;
  value_copy[to_utf8({value.data(), std::min<size_t>(length, max_value_size)}, value_copy)] = '\0';
  return value_copy;
}

// Windows has no fork.
uint64_t process_generation() noexcept {
  return 1;
}

}  // namespace hmn::platform
