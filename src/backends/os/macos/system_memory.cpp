// SPDX-License-Identifier: MIT OR Apache-2.0
#include "backends/os/macos/system_memory.hpp"

#include <algorithm>
#include <optional>

#include "backends/shared/mach/facts.hpp"
#include "model/scan.hpp"

namespace hmn::macos {
namespace {

// mach_host_self() adds a right to the port with each call.
class host_port {
 public:
  explicit host_port(const mach::kernel& k) : k_(k), name_(k.host_self()) {}
  host_port(const host_port&) = delete;
  host_port& operator=(const host_port&) = delete;
  ~host_port() { k_.deallocate(k_.task_self(), name_); }

  [[nodiscard]] mach::port get() const noexcept { return name_; }

 private:
  const mach::kernel& k_;
  mach::port name_;
};

// Estimates available memory, which macOS does not report. Activity Monitor counts these neither as
// used nor as wired: free pages, and pages reclaimed without writing (file-backed and purgeable
// ones). Speculative pages are in both the free and the file-backed count.
std::optional<std::uint64_t> estimate_available(const mach::kernel& k) {
  const host_port host(k);
  mach::vm_statistics found{};
  unsigned count = mach::vm_statistics_count;
  if (k.host_statistics(host.get(), mach::vm_statistics_flavor, reinterpret_cast<int*>(&found),
                        &count) != mach::success ||
      count < mach::vm_statistics_count) {
    return std::nullopt;
  }
  // The kernel's, not that of a translated program.
  unsigned long page_size = 0;
  if (k.host_page_size(host.get(), &page_size) != mach::success) return std::nullopt;
  const std::uint64_t free = found.free_count - std::min(found.free_count, found.speculative_count);
  return scan::product(free + found.external_page_count + found.purgeable_count, page_size);
}

void read_swap(const mach::kernel& k, system_memory& out) {
  mach::swap_usage found{};
  std::size_t size = sizeof found;
  if (k.sysctl_by_name("vm.swapusage", &found, &size, nullptr, 0) != 0 || size != sizeof found) {
    return;
  }
  out.swap_total = found.total;
  out.swap_free = found.available;
}

// Level that the kernel sends to registered programs (DISPATCH_MEMORYPRESSURE_*, xnu's
// kern_memorystatus_notify.c).
std::optional<memory_pressure> read_pressure(const mach::kernel& k) {
  switch (mach::number_of(k, "kern.memorystatus_vm_pressure_level").value_or(0)) {
    case 1:
      return memory_pressure::normal;
    case 2:
      return memory_pressure::warning;
    case 4:
      return memory_pressure::critical;
    default:
      return std::nullopt;
  }
}

}  // namespace

result<void> read_system_memory(const mach::kernel& k, system_memory& out) {
  out = system_memory();
  out.from = source::os;
  out.total = mach::number_of(k, "hw.memsize");
  out.available = estimate_available(k);
  if (out.total && out.available) out.available = std::min(*out.available, *out.total);
  read_swap(k, out);
  out.pressure = read_pressure(k);
  if (!out.total && !out.available) {
    return failure{status::backend, source::os, {}, "macOS does not report the machine's memory"};
  }
  if (out.available) out.notes |= note::estimated;
  if (!out.total || !out.available || !out.swap_total || !out.pressure) out.notes |= note::partial;
  return {};
}

}  // namespace hmn::macos
