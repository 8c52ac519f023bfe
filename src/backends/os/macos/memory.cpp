// SPDX-License-Identifier: MIT OR Apache-2.0
#include "backends/os/macos/memory.hpp"

#include <algorithm>
#include <cerrno>
#include <optional>
#include <utility>

#include "backends/shared/mach/facts.hpp"
#include "model/message_text.hpp"
#include "model/process_key.hpp"
#include "model/scan.hpp"

namespace hmn::macos {
namespace {

namespace field = process_memory_field;

// One call has the first of these for any process, another the second for the caller's task.
constexpr std::uint32_t of_rusage = field::resident | field::footprint | field::peak_footprint;
constexpr std::uint32_t of_own_task =
    field::resident | field::peak_resident | field::virtual_size | field::footprint;

Failure not_counted(FieldSet fields) {
  const bool is_peak = (fields & field::peak_resident) != 0;
  return {Status::unsupported,
          Source::os,
          {},
          is_peak ? "macOS reports the peak resident set of the caller only, of others the peak "
                    "footprint"
                  : "macOS counts no swap, no proportional, private or committed memory of a "
                    "process"};
}

Failure ended(std::uint32_t pid) {
  return {Status::no_process, Source::os, {}, compose({"process ", pid, " is a zombie"})};
}

// A zombie has no memory left, whatever the caller's privileges.
Failure why_no_memory(const mach::Kernel& k, std::uint32_t pid, int error) {
  mach::ProcessRecord found;
  if (mach::read_record(k, pid, found) == 0 && found.state == mach::zombie) return ended(pid);
  return mach::why_not(Source::os, pid, "the memory", error);
}

// The kernel keeps a zombie's last values if memory permits (bsd/kern/kern_exit.c).
std::optional<Failure> ask_rusage(const mach::Kernel& k, std::uint32_t pid, mach::Rusage& out) {
  // Declared as a pointer to a pointer, but the kernel expects the structure's own address.
  if (k.pid_rusage(static_cast<int>(pid), mach::rusage_flavor, reinterpret_cast<void**>(&out)) !=
      0) {
    return why_no_memory(k, pid, errno);
  }
  if (out.exit_time != 0) return ended(pid);
  if (out.resident_size == 0) {
    Failure why = why_no_memory(k, pid, EIO);
    if (why.code == Status::no_process) return why;
  }
  return std::nullopt;
}

// Peak memory is never 0: that means that the kernel does not count it.
std::optional<Failure> take_peak(const mach::Rusage& of, ProcessMemory& out) {
  if (of.lifetime_max_phys_footprint == 0) {
    return Failure{
        Status::unsupported, Source::os, {}, "this macOS keeps no account of the footprint's peak"};
  }
  out.peak_footprint = of.lifetime_max_phys_footprint;
  return std::nullopt;
}

std::optional<Failure> read_rusage(const mach::Kernel& k, std::uint32_t pid, FieldSet fields,
                                   ProcessMemory& out) {
  mach::Rusage found{};
  if (std::optional<Failure> why = ask_rusage(k, pid, found)) return why;
  if ((fields & field::resident) != 0) out.resident = found.resident_size;
  if ((fields & field::footprint) != 0) out.footprint = found.phys_footprint;
  if ((fields & field::peak_footprint) != 0) return take_peak(found, out);
  return std::nullopt;
}

std::optional<Failure> read_task(const mach::Kernel& k, std::uint32_t pid, ProcessMemory& out) {
  mach::ProcessTask found{};
  const int size = sizeof found;
  const int got = k.pid_info(static_cast<int>(pid), mach::task_info_flavor, 0, &found, size);
  if (got != size) return why_no_memory(k, pid, got > 0 ? EIO : errno);
  out.virtual_size = found.virtual_size;
  return std::nullopt;
}

FieldSet present(const ProcessMemory& m) {
  return (m.resident ? field::resident : 0) | (m.footprint ? field::footprint : 0) |
         (m.peak_resident ? field::peak_resident : 0) | (m.virtual_size ? field::virtual_size : 0) |
         (m.peak_footprint ? field::peak_footprint : 0) | (m.process_key ? field::process_key : 0);
}

std::optional<Failure> read_own_task(const mach::Kernel& k, FieldSet fields, ProcessMemory& out) {
  mach::VmInfo found{};
  unsigned count = mach::vm_info_count;
  const mach::KernReturn code =
      k.task_info(k.task_self(), mach::vm_info_flavor, reinterpret_cast<int*>(&found), &count);
  if (code != mach::success) return mach::of_kernel(Source::os, "task_info(TASK_VM_INFO)", code);
  if (count < mach::vm_info_count) {
    return Failure{Status::unsupported, Source::os, {}, "this macOS counts no footprint"};
  }
  if ((fields & field::resident) != 0) out.resident = found.resident_size;
  if ((fields & field::peak_resident) != 0) out.peak_resident = found.resident_size_peak;
  if ((fields & field::virtual_size) != 0) out.virtual_size = found.virtual_size;
  if ((fields & field::footprint) != 0) out.footprint = found.phys_footprint;
  return std::nullopt;
}

std::optional<Failure> read_key(const mach::Kernel& k, ProcessMemory& out) {
  mach::ProcessRecord found;
  if (const int error = mach::read_record(k, out.pid, found); error != 0) {
    return mach::why_not(Source::os, out.pid, "the start time", error);
  }
  out.process_key = mach::start_unix_ns(found);
  if (!out.process_key) {
    return Failure{Status::unsupported, Source::os, {}, "macOS does not report its start time"};
  }
  out.process_key = process_key(0, *out.process_key, out.pid);
  return std::nullopt;
}

Result<void> conclude(FieldSet fields, std::optional<Failure> first, ProcessMemory& out) {
  if ((present(out) & fields) == 0) {
    return first ? std::move(*first) : not_counted(fields);
  }
  if ((present(out) & fields) != fields) out.notes |= note::partial;
  return {};
}

// Each call of mach_host_self() adds a right to the port, which has to be released.
class HostPort {
 public:
  explicit HostPort(const mach::Kernel& k) : k_(k), name_(k.host_self()) {}
  HostPort(const HostPort&) = delete;
  HostPort& operator=(const HostPort&) = delete;
  ~HostPort() { k_.deallocate(k_.task_self(), name_); }

  [[nodiscard]] mach::Port get() const noexcept { return name_; }

 private:
  const mach::Kernel& k_;
  mach::Port name_;
};

// Estimates available memory, which macOS does not report: what Activity Monitor counts neither as
// used nor as wired. That is free pages, and pages that can be reclaimed without writing
// (file-backed and purgeable ones). Speculative pages are in both the free and the file-backed
// count.
std::optional<std::uint64_t> estimate_available(const mach::Kernel& k) {
  const HostPort host(k);
  mach::VmStatistics found{};
  unsigned count = mach::vm_statistics_count;
  if (k.host_statistics(host.get(), mach::vm_statistics_flavor, reinterpret_cast<int*>(&found),
                        &count) != mach::success ||
      count < mach::vm_statistics_count) {
    return std::nullopt;
  }
  // The kernel's page size, not that of a translated program.
  unsigned long page_size = 0;
  if (k.host_page_size(host.get(), &page_size) != mach::success) return std::nullopt;
  const std::uint64_t free = found.free_count - std::min(found.free_count, found.speculative_count);
  return scan::product(free + found.external_page_count + found.purgeable_count, page_size);
}

void read_swap(const mach::Kernel& k, SystemMemory& out) {
  mach::SwapUsage found{};
  std::size_t size = sizeof found;
  if (k.sysctl_by_name("vm.swapusage", &found, &size, nullptr, 0) != 0 || size != sizeof found) {
    return;
  }
  out.swap_total = found.total;
  out.swap_free = found.available;
}

// The level that the kernel sends to registered programs (DISPATCH_MEMORYPRESSURE_*, xnu's
// kern_memorystatus_notify.c).
std::optional<MemoryPressure> read_pressure(const mach::Kernel& k) {
  switch (mach::number_of(k, "kern.memorystatus_vm_pressure_level").value_or(0)) {
    case 1:
      return MemoryPressure::normal;
    case 2:
      return MemoryPressure::warning;
    case 4:
      return MemoryPressure::critical;
    default:
      return std::nullopt;
  }
}

}  // namespace

Result<void> read_own_memory(const mach::Kernel& k, FieldSet fields, ProcessMemory& out) {
  std::optional<Failure> first;
  if ((fields & of_own_task) != 0) first = read_own_task(k, fields, out);
  if ((fields & field::peak_footprint) != 0) {
    std::optional<Failure> why = read_rusage(k, out.pid, field::peak_footprint, out);
    if (!first) first = why;
  }
  if ((fields & field::process_key) != 0) {
    std::optional<Failure> why = read_key(k, out);
    if (!first) first = why;
  }
  return conclude(fields, std::move(first), out);
}

Result<void> read_memory(const mach::Kernel& k, std::uint32_t pid, FieldSet fields,
                         ProcessMemory& out) {
  std::optional<Failure> first;
  if ((fields & of_rusage) != 0) first = read_rusage(k, pid, fields, out);
  if (first && first->code == Status::no_process) return std::move(*first);
  if ((fields & field::virtual_size) != 0) {
    std::optional<Failure> why = read_task(k, pid, out);
    if (why && (!first || why->code == Status::no_process)) first = why;
  }
  if ((fields & field::process_key) != 0) {
    std::optional<Failure> why = read_key(k, out);
    if (why && (!first || why->code == Status::no_process)) first = why;
  }
  if (first && first->code == Status::no_process) return std::move(*first);
  if (!first && (fields & (of_rusage | field::virtual_size)) == 0) {
    mach::ProcessRecord found;
    if (const int error = mach::read_record(k, pid, found); error == ESRCH) {
      return mach::why_not(Source::os, pid, "the memory", error);
    }
  }
  return conclude(fields, std::move(first), out);
}

Result<void> read_system_memory(const mach::Kernel& k, SystemMemory& out) {
  out = SystemMemory();
  out.from = Source::os;
  out.total = mach::number_of(k, "hw.memsize");
  out.available = estimate_available(k);
  if (out.total && out.available) out.available = std::min(*out.available, *out.total);
  read_swap(k, out);
  out.pressure = read_pressure(k);
  if (!out.total && !out.available) {
    return Failure{Status::backend, Source::os, {}, "macOS does not report the machine's memory"};
  }
  if (out.available) out.notes |= note::estimated;
  if (!out.total || !out.available || !out.swap_total || !out.pressure) out.notes |= note::partial;
  return {};
}

}  // namespace hmn::macos
