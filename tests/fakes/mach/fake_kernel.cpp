// SPDX-License-Identifier: MIT OR Apache-2.0
#include "fake_kernel.hpp"

#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstring>

namespace hmn_fake {
namespace {

namespace mach = hmn::mach;
Mac* current_mac = nullptr;
constexpr mach::Port task_port = 0x103;
constexpr mach::Port host_port = 0x203;

int fail(int error) {
  errno = error;
  return -1;
}

int copy_out(const void* source, std::size_t length, void* out, std::size_t* size) {
  if (out != nullptr) {
    if (*size < length) return fail(ENOMEM);
    std::memcpy(out, source, length);
  }
  *size = length;
  return 0;
}

const MacProcess* find(int pid) {
  const auto it = current_mac->processes.find(pid);
  return it == current_mac->processes.end() || current_mac->vanishing_pids.count(pid) != 0
             ? nullptr
             : &it->second;
}

bool may_inspect(const MacProcess& process) {
  return current_mac->caller == 0 || current_mac->caller == process.user;
}

mach::KernReturn task_info(mach::Port task, unsigned flavor, int* out, unsigned* count) {
  if (current_mac->task_info_code != 0) return current_mac->task_info_code;
  if (task != task_port || flavor != mach::vm_info_flavor) return 4;  // KERN_INVALID_ARGUMENT
  mach::VmInfo info{};
  const MacProcess& process = current_mac->own();
  info.virtual_size = process.virtual_size;
  info.resident_size = process.resident;
  info.resident_size_peak = current_mac->peak_resident;
  info.phys_footprint = process.footprint;
  *count = std::min({*count, current_mac->max_task_info_words, mach::vm_info_count});
  std::memcpy(out, &info, *count * sizeof(int));
  return 0;
}

mach::Port host_self() {
  ++current_mac->host_rights;
  return host_port;
}

mach::KernReturn deallocate(mach::Port task, mach::Port name) {
  if (task != task_port || name != host_port) return 15;  // KERN_INVALID_NAME
  --current_mac->host_rights;
  return 0;
}

mach::KernReturn host_statistics(mach::Port host, int flavor, int* out, unsigned* count) {
  if (current_mac->host_statistics_code != 0) return current_mac->host_statistics_code;
  if (host != host_port || flavor != mach::vm_statistics_flavor) return 4;
  *count = std::min(*count, mach::vm_statistics_count);
  std::memcpy(out, &current_mac->statistics, *count * sizeof(int));
  return 0;
}

mach::KernReturn host_page_size(mach::Port, unsigned long* out) {
  *out = current_mac->page_size;
  return 0;
}

int get_record(int pid, void* out, std::size_t* size) {
  const MacProcess* const process = find(pid);
  if (process == nullptr) return copy_out("", 0, out, size);
  mach::ProcessRecord record{};
  record.pid = pid;
  record.start_seconds = process->start_seconds;
  record.start_microseconds = process->start_microseconds;
  record.state = static_cast<char>(process->is_zombie ? mach::zombie : 2);
  record.user = process->user;
  record.accounting_flags = process->is_forked_only ? mach::forked_only : 0;
  const std::string comm = process->path.substr(process->path.rfind('/') + 1).substr(0, 16);
  std::memcpy(record.name, comm.c_str(), comm.size());
  if (current_mac->ending_pids.count(pid) != 0) current_mac->processes[pid].is_zombie = true;
  return copy_out(&record, sizeof record, out, size);
}

int get_arguments(int pid, void* out, std::size_t* size) {
  const MacProcess* const process = find(pid);
  if (process == nullptr || process->is_zombie || !may_inspect(*process)) return fail(EINVAL);
  const auto count = static_cast<std::int32_t>(process->arguments.size());
  std::string bytes(reinterpret_cast<const char*>(&count), sizeof count);
  bytes += process->path + std::string(4, '\0');
  for (const std::string& argument : process->arguments) bytes += argument + '\0';
  bytes += std::string("SECRET=1") + '\0';
  return copy_out(bytes.data(), bytes.size(), out, size);
}

int sysctl(int* name, unsigned length, void* out, std::size_t* size, void*, std::size_t) {
  if (length == 4 && name[0] == mach::ctl_kern && name[1] == mach::kern_process &&
      name[2] == mach::kern_process_by_pid) {
    return get_record(name[3], out, size);
  }
  if (length == 3 && name[0] == mach::ctl_kern && name[1] == mach::kern_arguments) {
    return get_arguments(name[2], out, size);
  }
  return fail(ENOENT);
}

int sysctl_by_name(const char* name, void* out, std::size_t* size, void*, std::size_t) {
  const auto it = current_mac->values.find(name);
  if (it == current_mac->values.end()) return fail(ENOENT);
  return copy_out(it->second.data(), it->second.size(), out, size);
}

int pid_rusage(int pid, int flavor, void** out) {
  const MacProcess* const process = find(pid);
  if (process == nullptr) return fail(ESRCH);
  if (!may_inspect(*process)) return fail(EPERM);
  if (flavor != mach::rusage_flavor) return fail(EINVAL);
  mach::Rusage rusage{};
  rusage.resident_size = process->resident;
  rusage.phys_footprint = process->is_zombie ? 0 : process->footprint;
  rusage.exit_time = process->is_zombie ? 1 : 0;
  rusage.lifetime_max_phys_footprint = process->peak_footprint;
  if (process->is_zombie && !process->keeps_account) rusage = {};
  std::memcpy(static_cast<void*>(out), &rusage, sizeof rusage);
  return 0;
}

int pid_info(int pid, int flavor, std::uint64_t, void* out, int size) {
  const MacProcess* const process = find(pid);
  if (process == nullptr || process->is_zombie) {
    errno = ESRCH;
    return 0;
  }
  if (!may_inspect(*process)) {
    errno = EPERM;
    return 0;
  }
  mach::ProcessTask task{};
  if (flavor != mach::task_info_flavor || size < static_cast<int>(sizeof task)) return fail(EINVAL);
  task.virtual_size = process->virtual_size;
  task.resident_size = process->resident;
  std::memcpy(out, &task, sizeof task);
  return static_cast<int>(sizeof task);
}

int pid_path(int pid, void* out, std::uint32_t size) {
  const MacProcess* const process = find(pid);
  if (process == nullptr || process->is_zombie || process->path.empty() ||
      process->path.size() >= size) {
    errno = ESRCH;
    return 0;
  }
  std::memcpy(out, process->path.c_str(), process->path.size() + 1);
  return static_cast<int>(process->path.size());
}

// Without a buffer: an upper bound of the size in bytes.
int list_pids(std::uint32_t type, std::uint32_t, void* out, int size) {
  if (type != mach::all_pids) return fail(EINVAL);
  const int needed = static_cast<int>(current_mac->processes.size() * sizeof(int));
  if (out == nullptr) return needed;
  for (; current_mac->pid_list_growth > 0; --current_mac->pid_list_growth) {
    current_mac->processes[90000 + current_mac->pid_list_growth] = {};
  }
  int length = 0;
  for (const auto& [pid, process] : current_mac->processes) {
    if (length + static_cast<int>(sizeof pid) > size) break;
    std::memcpy(static_cast<char*>(out) + length, &pid, sizeof pid);
    length += static_cast<int>(sizeof pid);
  }
  return length;
}

int ledger_names(void* out, int* length) {
  *length = std::min(*length, static_cast<int>(current_mac->ledger_names.size()));
  for (int i = 0; i < *length; ++i) {
    mach::LedgerKind kind{};
    const std::string& name = current_mac->ledger_names[static_cast<std::size_t>(i)];
    std::memcpy(kind.name, name.c_str(), std::min(name.size(), sizeof kind.name - 1));
    std::memcpy(static_cast<char*>(out) + static_cast<std::size_t>(i) * sizeof kind, &kind,
                sizeof kind);
  }
  return 0;
}

int ledger(int command, void* first, void* second, void* third) {
  if (current_mac->ledger_error != 0) return fail(current_mac->ledger_error);
  if (command == mach::ledger_template_info) return ledger_names(first, static_cast<int*>(second));
  if (command != mach::ledger_entry_info) return fail(EINVAL);
  const MacProcess* const process = find(static_cast<int>(reinterpret_cast<std::intptr_t>(first)));
  if (process == nullptr || process->is_zombie) return fail(ESRCH);
  if (!may_inspect(*process)) return fail(EPERM);
  int& length = *static_cast<int*>(third);
  length = std::min(length, static_cast<int>(current_mac->ledger_names.size()));
  for (int i = 0; i < length; ++i) {
    mach::LedgerEntry entry{};
    const auto it = process->ledger.find(current_mac->ledger_names[static_cast<std::size_t>(i)]);
    if (it != process->ledger.end()) entry.balance = it->second;
    std::memcpy(static_cast<char*>(second) + static_cast<std::size_t>(i) * sizeof entry, &entry,
                sizeof entry);
  }
  return 0;
}

}  // namespace

Mac::Mac() : own_pid(getpid()) {
  current_mac = this;
  processes[own_pid] = {};
  set("hw.memsize", std::uint64_t{16} << 30);
  set("kern.memorystatus_vm_pressure_level", std::uint32_t{1});
  set("machdep.cpu.brand_string", "Apple M2 Pro");
}

Mac::~Mac() {
  current_mac = nullptr;
}

const hmn::mach::Kernel& Mac::calls() {
  static constexpr mach::Kernel table{
      .task_self = [] { return task_port; },
      .task_info = task_info,
      .host_self = host_self,
      .host_statistics = host_statistics,
      .host_page_size = host_page_size,
      .deallocate = deallocate,
      .sysctl = sysctl,
      .sysctl_by_name = sysctl_by_name,
      .pid_rusage = pid_rusage,
      .pid_info = pid_info,
      .pid_path = pid_path,
      .list_pids = list_pids,
      .ledger = ledger,
  };
  return table;
}

void Mac::set(const std::string& name, std::uint64_t value) {
  values[name].assign(reinterpret_cast<const char*>(&value), sizeof value);
}

void Mac::set(const std::string& name, std::uint32_t value) {
  values[name].assign(reinterpret_cast<const char*>(&value), sizeof value);
}

void Mac::set(const std::string& name, const char* value) {
  values[name].assign(value, std::strlen(value) + 1);
}

}  // namespace hmn_fake
