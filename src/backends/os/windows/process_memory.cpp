// SPDX-License-Identifier: MIT OR Apache-2.0
#include "backends/os/windows/process_memory.hpp"

#include <optional>

#include "backends/os/windows/opened_process.hpp"
#include "backends/os/windows/process_counters.hpp"
#include "model/process_key.hpp"

namespace hmn::os {
namespace {

namespace field = process_memory_field;

constexpr std::uint32_t counted = field::resident | field::peak_resident | field::committed |
                                  field::peak_committed | field::private_set;

constexpr std::uint32_t uncounted =
    field::swap | field::proportional | field::footprint | field::peak_footprint;

failure unsupported(const message_text& message) {
  return {status::unsupported, source::os, {}, message};
}

failure refused(DWORD error) {
  return {status::backend,
          source::os,
          {native_domain::win32, static_cast<std::int32_t>(error)},
          {"GetProcessMemoryInfo fails with error ", std::uint64_t{error}}};
}

// Keeps the first of several failures.
class first_failure {
 public:
  void note(const failure& why) {
    if (!why_) why_ = why;
  }
  void wanted(bool is_wanted, bool is_there, std::string_view why) {
    if (is_wanted && !is_there && !why_) why_ = unsupported(why);
  }
  std::optional<failure>& get() noexcept { return why_; }

 private:
  std::optional<failure> why_;
};

}  // namespace

result<void> read_process_memory(HANDLE process, std::uint32_t fields, process_memory& out) {
  first_failure missing;
  std::uint32_t had = 0;
  const auto take = [&](std::uint32_t bit, const std::optional<std::uint64_t>& value,
                        std::optional<std::uint64_t>& into, std::string_view why) {
    if ((fields & bit) == 0) return;
    missing.wanted(true, value.has_value(), why);
    into = value;
    had |= value ? bit : 0;
  };
  process_counters c;
  if ((fields & counted) != 0) {
    if (!read_counters(process, c)) {
      missing.note(refused(GetLastError()));
    } else {
      take(field::resident, c.working_set, out.resident, {});
      take(field::peak_resident, c.peak_working_set, out.peak_resident, {});
      take(field::committed, c.private_usage, out.committed,
           "private bytes of a process are not reported by this system");
      take(field::peak_committed, c.peak_private_usage, out.peak_committed,
           "peak private bytes of a process are not reported by this system");
      take(field::private_set, c.private_working_set, out.private_set,
           "the private working set of a process is not reported by this Windows, but by 10 22H2");
    }
  }
  if ((fields & field::virtual_size) != 0) {
    take(field::virtual_size, read_virtual_size(process), out.virtual_size,
         "the address space of a process is not reported by this system");
  }
  if ((fields & field::process_key) != 0) {
    std::optional<std::uint64_t> key = start_unix_ns(process);
    if (key) key = process_key(0, *key, GetProcessId(process));
    take(field::process_key, key, out.process_key,
         "the start time of this process is not reported by this system");
  }
  missing.wanted((fields & uncounted) != 0, false,
                 "Windows counts of a process no swapped pages, no share of shared pages and no "
                 "footprint");
  if (had == 0) return *missing.get();
  if (missing.get()) out.notes |= note::partial;
  return {};
}

}  // namespace hmn::os
