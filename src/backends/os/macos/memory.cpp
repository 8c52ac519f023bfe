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

// One call returns the first set for any process, another the second set for the caller's own task.
constexpr std::uint32_t rusage_fields = field::resident | field::footprint | field::peak_footprint;
constexpr std::uint32_t own_task_fields =
    field::resident | field::peak_resident | field::virtual_size | field::footprint;

Failure make_unsupported_failure(FieldSet fields) {
  const bool is_peak = (fields & field::peak_resident) != 0;
  return {Status::unsupported,
          Source::os,
          {},
          is_peak ? "macOS reports the peak resident set of the caller only, of others the peak "
                    "footprint"
                  : "macOS counts no swap, no proportional, private or committed memory of a "
                    "process"};
}

Failure make_zombie_failure(std::uint32_t pid) {
  return {Status::no_process, Source::os, {}, compose({"process ", pid, " is a zombie"})};
}

// A zombie has no memory left, whatever the caller's privileges.
Failure explain_missing_memory(const mach::Kernel& kernel, std::uint32_t pid, int error) {
  mach::ProcessRecord record;
  if (mach::read_record(kernel, pid, record) == 0 && record.state == mach::zombie)
    return make_zombie_failure(pid);
  return mach::make_process_failure(Source::os, pid, "the memory", error);
}

// The kernel keeps a zombie's last values if memory permits (bsd/kern/kern_exit.c).
std::optional<Failure> query_rusage(const mach::Kernel& kernel, std::uint32_t pid,
                                    mach::Rusage& rusage) {
  // Declared as a pointer to a pointer, but the kernel expects the structure's own address.
  if (kernel.pid_rusage(static_cast<int>(pid), mach::rusage_flavor,
                        reinterpret_cast<void**>(&rusage)) != 0) {
    return explain_missing_memory(kernel, pid, errno);
  }
  if (rusage.exit_time != 0) return make_zombie_failure(pid);
  if (rusage.resident_size == 0) {
    Failure failure = explain_missing_memory(kernel, pid, EIO);
    if (failure.code == Status::no_process) return failure;
  }
  return std::nullopt;
}

// Peak memory is never 0: a 0 means that the kernel does not count it.
std::optional<Failure> store_peak(const mach::Rusage& rusage, ProcessMemory& memory) {
  if (rusage.lifetime_max_phys_footprint == 0) {
    return Failure{
        Status::unsupported, Source::os, {}, "this macOS keeps no account of the footprint's peak"};
  }
  memory.peak_footprint = rusage.lifetime_max_phys_footprint;
  return std::nullopt;
}

std::optional<Failure> read_rusage(const mach::Kernel& kernel, std::uint32_t pid, FieldSet fields,
                                   ProcessMemory& memory) {
  mach::Rusage rusage{};
  if (std::optional<Failure> failure = query_rusage(kernel, pid, rusage)) return failure;
  if ((fields & field::resident) != 0) memory.resident = rusage.resident_size;
  if ((fields & field::footprint) != 0) memory.footprint = rusage.phys_footprint;
  if ((fields & field::peak_footprint) != 0) return store_peak(rusage, memory);
  return std::nullopt;
}

std::optional<Failure> read_task(const mach::Kernel& kernel, std::uint32_t pid,
                                 ProcessMemory& memory) {
  mach::ProcessTask task{};
  const int size = sizeof task;
  const int returned_size =
      kernel.pid_info(static_cast<int>(pid), mach::task_info_flavor, 0, &task, size);
  if (returned_size != size)
    return explain_missing_memory(kernel, pid, returned_size > 0 ? EIO : errno);
  memory.virtual_size = task.virtual_size;
  return std::nullopt;
}

FieldSet find_present_fields(const ProcessMemory& memory) {
  return (memory.resident ? field::resident : 0) | (memory.footprint ? field::footprint : 0) |
         (memory.peak_resident ? field::peak_resident : 0) |
         (memory.virtual_size ? field::virtual_size : 0) |
         (memory.peak_footprint ? field::peak_footprint : 0) |
         (memory.process_key ? field::process_key : 0);
}

std::optional<Failure> read_own_task(const mach::Kernel& kernel, FieldSet fields,
                                     ProcessMemory& memory) {
  mach::VmInfo info{};
  unsigned count = mach::vm_info_count;
  const mach::KernReturn code = kernel.task_info(kernel.task_self(), mach::vm_info_flavor,
                                                 reinterpret_cast<int*>(&info), &count);
  if (code != mach::success)
    return mach::make_kernel_failure(Source::os, "task_info(TASK_VM_INFO)", code);
  if (count < mach::vm_info_count) {
    return Failure{Status::unsupported, Source::os, {}, "this macOS counts no footprint"};
  }
  if ((fields & field::resident) != 0) memory.resident = info.resident_size;
  if ((fields & field::peak_resident) != 0) memory.peak_resident = info.resident_size_peak;
  if ((fields & field::virtual_size) != 0) memory.virtual_size = info.virtual_size;
  if ((fields & field::footprint) != 0) memory.footprint = info.phys_footprint;
  return std::nullopt;
}

std::optional<Failure> read_process_key(const mach::Kernel& kernel, ProcessMemory& memory) {
  mach::ProcessRecord record;
  if (const int error = mach::read_record(kernel, memory.pid, record); error != 0) {
    return mach::make_process_failure(Source::os, memory.pid, "the start time", error);
  }
  memory.process_key = mach::start_unix_ns(record);
  if (!memory.process_key) {
    return Failure{Status::unsupported, Source::os, {}, "macOS does not report its start time"};
  }
  memory.process_key = make_process_key(0, *memory.process_key, memory.pid);
  return std::nullopt;
}

Result<void> make_result(FieldSet fields, std::optional<Failure> first_failure,
                         ProcessMemory& memory) {
  if ((find_present_fields(memory) & fields) == 0) {
    return first_failure ? std::move(*first_failure) : make_unsupported_failure(fields);
  }
  if ((find_present_fields(memory) & fields) != fields) memory.notes |= note::partial;
  return {};
}

// Each call of mach_host_self() adds a right to the port, which has to be released.
class HostPort {
 public:
  explicit HostPort(const mach::Kernel& kernel) : kernel_(kernel), port_(kernel.host_self()) {}
  HostPort(const HostPort&) = delete;
  HostPort& operator=(const HostPort&) = delete;
  ~HostPort() { kernel_.deallocate(kernel_.task_self(), port_); }

  [[nodiscard]] mach::Port get() const noexcept { return port_; }

 private:
  const mach::Kernel& kernel_;
  mach::Port port_;
};

// Estimates available memory, which macOS does not report: what Activity Monitor counts neither as
// used nor as wired. That is free pages, and pages that can be reclaimed without writing
// (file-backed and purgeable ones). Speculative pages are in both the free and the file-backed
// count.
std::optional<std::uint64_t> estimate_available(const mach::Kernel& kernel) {
  const HostPort host(kernel);
  mach::VmStatistics statistics{};
  unsigned count = mach::vm_statistics_count;
  if (kernel.host_statistics(host.get(), mach::vm_statistics_flavor,
                             reinterpret_cast<int*>(&statistics), &count) != mach::success ||
      count < mach::vm_statistics_count) {
    return std::nullopt;
  }
  // The kernel's page size, not that of a translated program.
  unsigned long page_size = 0;
  if (kernel.host_page_size(host.get(), &page_size) != mach::success) return std::nullopt;
  const std::uint64_t free =
      statistics.free_count - std::min(statistics.free_count, statistics.speculative_count);
  return scan::checked_multiply(free + statistics.external_page_count + statistics.purgeable_count,
                                page_size);
}

void read_swap(const mach::Kernel& kernel, SystemMemory& memory) {
  mach::SwapUsage swap{};
  std::size_t size = sizeof swap;
  if (kernel.sysctl_by_name("vm.swapusage", &swap, &size, nullptr, 0) != 0 || size != sizeof swap) {
    return;
  }
  memory.swap_total = swap.total;
  memory.swap_free = swap.available;
}

// The level that the kernel sends to registered programs (DISPATCH_MEMORYPRESSURE_*, xnu's
// kern_memorystatus_notify.c).
std::optional<MemoryPressure> read_pressure(const mach::Kernel& kernel) {
  switch (mach::read_number(kernel, "kern.memorystatus_vm_pressure_level").value_or(0)) {
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

Result<void> read_own_memory(const mach::Kernel& kernel, FieldSet fields, ProcessMemory& memory) {
  std::optional<Failure> first_failure;
  if ((fields & own_task_fields) != 0) first_failure = read_own_task(kernel, fields, memory);
  if ((fields & field::peak_footprint) != 0) {
    std::optional<Failure> failure = read_rusage(kernel, memory.pid, field::peak_footprint, memory);
    if (!first_failure) first_failure = failure;
  }
  if ((fields & field::process_key) != 0) {
    std::optional<Failure> failure = read_process_key(kernel, memory);
    if (!first_failure) first_failure = failure;
  }
  return make_result(fields, std::move(first_failure), memory);
}

Result<void> read_memory(const mach::Kernel& kernel, std::uint32_t pid, FieldSet fields,
                         ProcessMemory& memory) {
  std::optional<Failure> first_failure;
  if ((fields & rusage_fields) != 0) first_failure = read_rusage(kernel, pid, fields, memory);
  if (first_failure && first_failure->code == Status::no_process) return std::move(*first_failure);
  if ((fields & field::virtual_size) != 0) {
    std::optional<Failure> failure = read_task(kernel, pid, memory);
    if (failure && (!first_failure || failure->code == Status::no_process)) first_failure = failure;
  }
  if ((fields & field::process_key) != 0) {
    std::optional<Failure> failure = read_process_key(kernel, memory);
    if (failure && (!first_failure || failure->code == Status::no_process)) first_failure = failure;
  }
  if (first_failure && first_failure->code == Status::no_process) return std::move(*first_failure);
  if (!first_failure && (fields & (rusage_fields | field::virtual_size)) == 0) {
    mach::ProcessRecord record;
    if (const int error = mach::read_record(kernel, pid, record); error == ESRCH) {
      return mach::make_process_failure(Source::os, pid, "the memory", error);
    }
  }
  return make_result(fields, std::move(first_failure), memory);
}

Result<void> read_system_memory(const mach::Kernel& kernel, SystemMemory& memory) {
  memory = SystemMemory();
  memory.source = Source::os;
  memory.total = mach::read_number(kernel, "hw.memsize");
  memory.available = estimate_available(kernel);
  if (memory.total && memory.available)
    memory.available = std::min(*memory.available, *memory.total);
  read_swap(kernel, memory);
  memory.pressure = read_pressure(kernel);
  if (!memory.total && !memory.available) {
    return Failure{Status::backend, Source::os, {}, "macOS does not report the machine's memory"};
  }
  if (memory.available) memory.notes |= note::estimated;
  if (!memory.total || !memory.available || !memory.swap_total || !memory.pressure)
    memory.notes |= note::partial;
  return {};
}

}  // namespace hmn::macos
