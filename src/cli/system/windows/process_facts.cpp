// SPDX-License-Identifier: MIT OR Apache-2.0
#include "cli/system/process_facts.hpp"

#include "cli/system/windows/token_user.hpp"
#include "platform/windows/handle.hpp"
#include "platform/windows/wide.hpp"

namespace hmn::cli {

std::optional<std::string> process_user(std::uint32_t pid, std::optional<std::uint32_t>) {
  const platform::handle process(OpenProcess(PROCESS_QUERY_LIMITED_INFORMATION, FALSE, pid));
  if (!process) return std::nullopt;
  const token_user of(process.get());
  if (of.sid() == nullptr) return std::nullopt;
  wchar_t name[256], domain[256];
  DWORD name_length = 256, domain_length = 256;
  SID_NAME_USE kind{};
  if (LookupAccountSidW(nullptr, of.sid(), name, &name_length, domain, &domain_length, &kind) == 0)
    return std::nullopt;
  return platform::to_utf8({name, name_length});
}

// Returns none: Windows has no PID namespaces.
std::optional<std::uint32_t> namespace_pid(std::uint32_t) {
  return std::nullopt;
}

std::optional<std::uint64_t> process_cpu_ns(const roots&, std::uint32_t) {
  return std::nullopt;
}

}  // namespace hmn::cli
