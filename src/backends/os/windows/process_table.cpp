// SPDX-License-Identifier: MIT OR Apache-2.0
#include "backends/os/windows/process_table.hpp"

#include <windows.h>

#include <tlhelp32.h>

#include <algorithm>

#include "platform/clock.hpp"
#include "platform/windows/handle.hpp"
#include "platform/windows/wide.hpp"

namespace hmn::os {
namespace {

// As long as one list of processes takes at most.
constexpr std::uint64_t longest_use_ns = platform::ns_per_second / 4;

}  // namespace

bool process_table::take() {
  taken_ns_ = platform::monotonic_ns();
  entries_.clear();
  has_any_ = false;
  const platform::handle all(CreateToolhelp32Snapshot(TH32CS_SNAPPROCESS, 0));
  if (!all) return false;
  PROCESSENTRY32W one{};
  one.dwSize = sizeof one;
  for (BOOL more = Process32FirstW(all.get(), &one); more; more = Process32NextW(all.get(), &one)) {
    entries_.push_back({one.th32ProcessID, platform::to_utf8(std::wstring_view(one.szExeFile))});
  }
  has_any_ = !entries_.empty();
  return has_any_;
}

const process_table::entry* process_table::find(std::uint32_t pid) const noexcept {
  const auto at = std::find_if(entries_.begin(), entries_.end(),
                               [pid](const entry& e) { return e.pid == pid; });
  return at != entries_.end() ? &*at : nullptr;
}

process_table::found process_table::name_of(std::uint32_t pid, std::string& name) {
  const std::lock_guard lock(mutex_);
  const bool is_old = !has_any_ || platform::monotonic_ns() - taken_ns_ > longest_use_ns;
  if (is_old && !take()) return found::unknown;
  const entry* one = find(pid);
  // It may have started since.
  if (one == nullptr && !is_old) {
    if (!take()) return found::unknown;
    one = find(pid);
  }
  if (one == nullptr) return found::not_here;
  name = one->name;
  return found::here;
}

}  // namespace hmn::os
