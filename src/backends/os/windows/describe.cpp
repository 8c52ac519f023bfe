// SPDX-License-Identifier: MIT OR Apache-2.0
#include "backends/os/windows/describe.hpp"

#include <windows.h>

#include <algorithm>

#include "backends/os/windows/process_memory.hpp"
#include "model/process_key.hpp"
#include "platform/clock.hpp"
#include "platform/windows/system.hpp"

// Needs windows.h first.
#include <tlhelp32.h>

namespace hmn::os {
namespace {

// How long one list of processes is used.
constexpr std::uint64_t longest_use_ns = platform::ns_per_second / 4;

constexpr std::uint32_t kernel_pid = 4;  // "System"

bool is_complete(const Usage& row) {
  return row.name_state != NameState::unknown && row.start_unix_ns && row.process_key &&
         row.host_resident;
}

void name(const OpenedProcess& p, Usage& row) {
  const std::string path = p.image_path();
  const std::string_view last = name_of_image(path);
  if (last.empty()) return;
  row.name = last;
  row.name_state = NameState::resolved;
}

// A process that cannot be opened is still listed with its name.
void name_from(ProcessTable& table, Usage& row) {
  switch (table.name_of(row.pid, row.name)) {
    case ProcessTable::Found::here:
      row.name_state = row.name.empty() ? NameState::protected_process : NameState::resolved;
      break;
    case ProcessTable::Found::not_here:
      row.name_state = NameState::exited;
      break;
    case ProcessTable::Found::unknown:
      row.name_state = NameState::protected_process;
      break;
  }
}

}  // namespace

bool ProcessTable::take() {
  taken_ns_ = platform::continuous_ns();
  entries_.clear();
  has_any_ = false;
  const platform::Handle all(CreateToolhelp32Snapshot(TH32CS_SNAPPROCESS, 0));
  if (!all) return false;
  PROCESSENTRY32W one{};
  one.dwSize = sizeof one;
  for (BOOL more = Process32FirstW(all.get(), &one); more; more = Process32NextW(all.get(), &one)) {
    entries_.push_back({one.th32ProcessID, platform::to_utf8(std::wstring_view(one.szExeFile))});
  }
  has_any_ = !entries_.empty();
  return has_any_;
}

const ProcessTable::Entry* ProcessTable::find(std::uint32_t pid) const noexcept {
  const auto at = std::find_if(entries_.begin(), entries_.end(),
                               [pid](const Entry& e) { return e.pid == pid; });
  return at != entries_.end() ? &*at : nullptr;
}

ProcessTable::Found ProcessTable::name_of(std::uint32_t pid, std::string& name) {
  const std::lock_guard lock(mutex_);
  const bool is_old = !has_any_ || platform::continuous_ns() - taken_ns_ > longest_use_ns;
  if (is_old && !take()) return Found::unknown;
  const Entry* one = find(pid);
  // The process may have started after the list was taken.
  if (one == nullptr && !is_old) {
    if (!take()) return Found::unknown;
    one = find(pid);
  }
  if (one == nullptr) return Found::not_here;
  name = one->name;
  return Found::here;
}

std::string_view name_of_image(std::string_view path) noexcept {
  return path.substr(path.find_last_of("\\/") + 1);  // npos + 1 is 0
}

void describe(ProcessTable& table, Usage& row) {
  if (row.pid == 0 || is_complete(row)) return;
  if (row.pid == kernel_pid && row.name_state == NameState::unknown)
    row.name_state = NameState::kernel;
  const auto p = OpenedProcess::open(row.pid);
  if (!p) {
    if (row.name_state != NameState::unknown) return;
    if (p.why().code == Status::no_process) {
      row.name_state = NameState::exited;
    } else {
      name_from(table, row);
    }
    return;
  }
  if (row.name_state == NameState::unknown) name(*p, row);
  if (row.name_state == NameState::unknown) name_from(table, row);
  const auto start = start_unix_ns(p->get());
  if (!row.start_unix_ns) row.start_unix_ns = start;
  if (!row.process_key && start) row.process_key = process_key(0, *start, row.pid);
  ProcessCounters c;
  if (!row.host_resident && read_counters(p->get(), c)) row.host_resident = c.working_set;
}

void describe_texts(Usage& row) {
  if (row.pid == 0 || !row.command.empty()) return;
  if (const auto p = OpenedProcess::open(row.pid)) row.command = command_text(p->get());
}

}  // namespace hmn::os
