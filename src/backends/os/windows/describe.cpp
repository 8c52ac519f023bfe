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

// Maximum age of a list of processes.
constexpr std::uint64_t max_age_ns = platform::ns_per_second / 4;

constexpr std::uint32_t kernel_pid = 4;  // "System"

bool is_complete(const Usage& row) {
  return row.name_state != NameState::unknown && row.start_unix_ns && row.process_key &&
         row.host_resident;
}

void set_name(const ProcessHandle& process, Usage& row) {
  const std::string path = process.image_path();
  const std::string_view file_name = extract_file_name(path);
  if (file_name.empty()) return;
  row.name = file_name;
  row.name_state = NameState::resolved;
}

// The list has the name even of a process that cannot be opened.
void set_name_from_table(ProcessTable& table, Usage& row) {
  switch (table.find_name(row.pid, row.name)) {
    case ProcessTable::LookupResult::listed:
      row.name_state = row.name.empty() ? NameState::protected_process : NameState::resolved;
      break;
    case ProcessTable::LookupResult::not_listed:
      row.name_state = NameState::exited;
      break;
    case ProcessTable::LookupResult::unknown:
      row.name_state = NameState::protected_process;
      break;
  }
}

}  // namespace

bool ProcessTable::refresh() {
  read_ns_ = platform::continuous_ns();
  entries_.clear();
  has_entries_ = false;
  const platform::Handle snapshot(CreateToolhelp32Snapshot(TH32CS_SNAPPROCESS, 0));
  if (!snapshot) return false;
  PROCESSENTRY32W entry{};
  entry.dwSize = sizeof entry;
  for (BOOL more = Process32FirstW(snapshot.get(), &entry); more;
       more = Process32NextW(snapshot.get(), &entry)) {
    entries_.push_back(
        {entry.th32ProcessID, platform::to_utf8(std::wstring_view(entry.szExeFile))});
  }
  has_entries_ = !entries_.empty();
  return has_entries_;
}

const ProcessTable::Entry* ProcessTable::find(std::uint32_t pid) const noexcept {
  const auto it = std::find_if(entries_.begin(), entries_.end(),
                               [pid](const Entry& e) { return e.pid == pid; });
  return it != entries_.end() ? &*it : nullptr;
}

ProcessTable::LookupResult ProcessTable::find_name(std::uint32_t pid, std::string& name) {
  const std::lock_guard lock(mutex_);
  const bool is_stale = !has_entries_ || platform::continuous_ns() - read_ns_ > max_age_ns;
  if (is_stale && !refresh()) return LookupResult::unknown;
  const Entry* entry = find(pid);
  // The process may have started after the list was read.
  if (entry == nullptr && !is_stale) {
    if (!refresh()) return LookupResult::unknown;
    entry = find(pid);
  }
  if (entry == nullptr) return LookupResult::not_listed;
  name = entry->name;
  return LookupResult::listed;
}

std::string_view extract_file_name(std::string_view path) noexcept {
  return path.substr(path.find_last_of("\\/") + 1);  // npos + 1 is 0
}

void describe(ProcessTable& table, Usage& row) {
  if (row.pid == 0 || is_complete(row)) return;
  if (row.pid == kernel_pid && row.name_state == NameState::unknown)
    row.name_state = NameState::kernel;
  const auto process = ProcessHandle::open(row.pid);
  if (!process) {
    if (row.name_state != NameState::unknown) return;
    if (process.failure().code == Status::no_process) {
      row.name_state = NameState::exited;
    } else {
      set_name_from_table(table, row);
    }
    return;
  }
  if (row.name_state == NameState::unknown) set_name(*process, row);
  if (row.name_state == NameState::unknown) set_name_from_table(table, row);
  const auto start = read_start_unix_ns(process->get());
  if (!row.start_unix_ns) row.start_unix_ns = start;
  if (!row.process_key && start) row.process_key = make_process_key(0, *start, row.pid);
  ProcessCounters counters;
  if (!row.host_resident && read_counters(process->get(), counters))
    row.host_resident = counters.working_set;
}

void describe_texts(Usage& row) {
  if (row.pid == 0 || !row.command.empty()) return;
  if (const auto process = ProcessHandle::open(row.pid))
    row.command = read_command_line(process->get());
}

}  // namespace hmn::os
