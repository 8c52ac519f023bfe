// SPDX-License-Identifier: MIT OR Apache-2.0
#include "fake_kernel.hpp"

#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstring>

namespace hmn_fake {
namespace {

namespace mach = hmn::mach;
Mac* kernel_now = nullptr;
constexpr mach::Port task_port = 0x103;
constexpr mach::Port host_port = 0x203;

int fail(int error) {
  errno = error;
  return -1;
}

int give(const void* from, std::size_t length, void* out, std::size_t* size) {
  if (out != nullptr) {
    if (*size < length) return fail(ENOMEM);
    std::memcpy(out, from, length);
  }
  *size = length;
  return 0;
}

const MacProcess* find(int pid) {
  const auto at = kernel_now->processes.find(pid);
  return at == kernel_now->processes.end() || kernel_now->gone_when_asked.count(pid) != 0
             ? nullptr
             : &at->second;
}

bool may_look(const MacProcess& p) {
  return kernel_now->caller == 0 || kernel_now->caller == p.user;
}

mach::KernReturn task_info(mach::Port task, unsigned flavor, int* out, unsigned* count) {
  if (kernel_now->task_info_code != 0) return kernel_now->task_info_code;
  if (task != task_port || flavor != mach::vm_info_flavor) return 4;  // KERN_INVALID_ARGUMENT
  mach::VmInfo v{};
  const MacProcess& p = kernel_now->own();
  v.virtual_size = p.virtual_size;
  v.resident_size = p.resident;
  v.resident_size_peak = kernel_now->peak_resident;
  v.phys_footprint = p.footprint;
  *count = std::min({*count, kernel_now->task_info_most, mach::vm_info_count});
  std::memcpy(out, &v, *count * sizeof(int));
  return 0;
}

mach::Port host_self() {
  ++kernel_now->host_rights;
  return host_port;
}

mach::KernReturn deallocate(mach::Port task, mach::Port name) {
  if (task != task_port || name != host_port) return 15;  // KERN_INVALID_NAME
  --kernel_now->host_rights;
  return 0;
}

mach::KernReturn host_statistics(mach::Port host, int flavor, int* out, unsigned* count) {
  if (kernel_now->host_statistics_code != 0) return kernel_now->host_statistics_code;
  if (host != host_port || flavor != mach::vm_statistics_flavor) return 4;
  *count = std::min(*count, mach::vm_statistics_count);
  std::memcpy(out, &kernel_now->statistics, *count * sizeof(int));
  return 0;
}

mach::KernReturn host_page_size(mach::Port, unsigned long* out) {
  *out = kernel_now->page_size;
  return 0;
}

int record_of(int pid, void* out, std::size_t* size) {
  const MacProcess* const p = find(pid);
  if (p == nullptr) return give("", 0, out, size);
  mach::ProcessRecord r{};
  r.pid = pid;
  r.start_seconds = p->start_seconds;
  r.start_microseconds = p->start_microseconds;
  r.state = static_cast<char>(p->is_zombie ? mach::zombie : 2);
  r.user = p->user;
  r.accounting_flags = p->is_forked_only ? mach::forked_only : 0;
  const std::string comm = p->path.substr(p->path.rfind('/') + 1).substr(0, 16);
  std::memcpy(r.name, comm.c_str(), comm.size());
  if (kernel_now->end_once_looked_at.count(pid) != 0) kernel_now->processes[pid].is_zombie = true;
  return give(&r, sizeof r, out, size);
}

int arguments_of(int pid, void* out, std::size_t* size) {
  const MacProcess* const p = find(pid);
  if (p == nullptr || p->is_zombie || !may_look(*p)) return fail(EINVAL);
  const auto count = static_cast<std::int32_t>(p->arguments.size());
  std::string bytes(reinterpret_cast<const char*>(&count), sizeof count);
  bytes += p->path + std::string(4, '\0');
  for (const std::string& a : p->arguments) bytes += a + '\0';
  bytes += std::string("SECRET=1") + '\0';
  return give(bytes.data(), bytes.size(), out, size);
}

int sysctl(int* name, unsigned length, void* out, std::size_t* size, void*, std::size_t) {
  if (length == 4 && name[0] == mach::ctl_kern && name[1] == mach::kern_process &&
      name[2] == mach::kern_process_by_pid) {
    return record_of(name[3], out, size);
  }
  if (length == 3 && name[0] == mach::ctl_kern && name[1] == mach::kern_arguments) {
    return arguments_of(name[2], out, size);
  }
  return fail(ENOENT);
}

int sysctl_by_name(const char* name, void* out, std::size_t* size, void*, std::size_t) {
  const auto at = kernel_now->values.find(name);
  if (at == kernel_now->values.end()) return fail(ENOENT);
  return give(at->second.data(), at->second.size(), out, size);
}

int pid_rusage(int pid, int flavor, void** out) {
  const MacProcess* const p = find(pid);
  if (p == nullptr) return fail(ESRCH);
  if (!may_look(*p)) return fail(EPERM);
  if (flavor != mach::rusage_flavor) return fail(EINVAL);
  mach::Rusage r{};
  r.resident_size = p->resident;
  r.phys_footprint = p->is_zombie ? 0 : p->footprint;
  r.exit_time = p->is_zombie ? 1 : 0;
  r.lifetime_max_phys_footprint = p->peak_footprint;
  if (p->is_zombie && !p->keeps_account) r = {};
  std::memcpy(static_cast<void*>(out), &r, sizeof r);
  return 0;
}

int pid_info(int pid, int flavor, std::uint64_t, void* out, int size) {
  const MacProcess* const p = find(pid);
  if (p == nullptr || p->is_zombie) {
    errno = ESRCH;
    return 0;
  }
  if (!may_look(*p)) {
    errno = EPERM;
    return 0;
  }
  mach::ProcessTask t{};
  if (flavor != mach::task_info_flavor || size < static_cast<int>(sizeof t)) return fail(EINVAL);
  t.virtual_size = p->virtual_size;
  t.resident_size = p->resident;
  std::memcpy(out, &t, sizeof t);
  return static_cast<int>(sizeof t);
}

int pid_path(int pid, void* out, std::uint32_t size) {
  const MacProcess* const p = find(pid);
  if (p == nullptr || p->is_zombie || p->path.empty() || p->path.size() >= size) {
    errno = ESRCH;
    return 0;
  }
  std::memcpy(out, p->path.c_str(), p->path.size() + 1);
  return static_cast<int>(p->path.size());
}

// Without a buffer: how many bytes there may be, with some to spare.
int list_pids(std::uint32_t type, std::uint32_t, void* out, int size) {
  if (type != mach::all_pids) return fail(EINVAL);
  const int needed = static_cast<int>(kernel_now->processes.size() * sizeof(int));
  if (out == nullptr) return needed;
  for (; kernel_now->pid_list_growth > 0; --kernel_now->pid_list_growth) {
    kernel_now->processes[90000 + kernel_now->pid_list_growth] = {};
  }
  int written = 0;
  for (const auto& [pid, p] : kernel_now->processes) {
    if (written + static_cast<int>(sizeof pid) > size) break;
    std::memcpy(static_cast<char*>(out) + written, &pid, sizeof pid);
    written += static_cast<int>(sizeof pid);
  }
  return written;
}

int ledger_names(void* out, int* length) {
  *length = std::min(*length, static_cast<int>(kernel_now->ledger_names.size()));
  for (int i = 0; i < *length; ++i) {
    mach::LedgerKind kind{};
    const std::string& name = kernel_now->ledger_names[static_cast<std::size_t>(i)];
    std::memcpy(kind.name, name.c_str(), std::min(name.size(), sizeof kind.name - 1));
    std::memcpy(static_cast<char*>(out) + static_cast<std::size_t>(i) * sizeof kind, &kind,
                sizeof kind);
  }
  return 0;
}

int ledger(int command, void* first, void* second, void* third) {
  if (kernel_now->ledger_error != 0) return fail(kernel_now->ledger_error);
  if (command == mach::ledger_template_info) return ledger_names(first, static_cast<int*>(second));
  if (command != mach::ledger_entry_info) return fail(EINVAL);
  const MacProcess* const p = find(static_cast<int>(reinterpret_cast<std::intptr_t>(first)));
  if (p == nullptr || p->is_zombie) return fail(ESRCH);
  if (!may_look(*p)) return fail(EPERM);
  int& length = *static_cast<int*>(third);
  length = std::min(length, static_cast<int>(kernel_now->ledger_names.size()));
  for (int i = 0; i < length; ++i) {
    mach::LedgerEntry e{};
    const auto at = p->ledger.find(kernel_now->ledger_names[static_cast<std::size_t>(i)]);
    if (at != p->ledger.end()) e.balance = at->second;
    std::memcpy(static_cast<char*>(second) + static_cast<std::size_t>(i) * sizeof e, &e, sizeof e);
  }
  return 0;
}

}  // namespace

Mac::Mac() : own_pid(getpid()) {
  kernel_now = this;
  processes[own_pid] = {};
  set("hw.memsize", std::uint64_t{16} << 30);
  set("kern.memorystatus_vm_pressure_level", std::uint32_t{1});
  set("machdep.cpu.brand_string", "Apple M2 Pro");
}

Mac::~Mac() {
  kernel_now = nullptr;
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
