// SPDX-License-Identifier: MIT OR Apache-2.0
#include "backends/metal/ledger.hpp"

#include <cerrno>
#include <cstring>
#include <string_view>

#include "backends/mach/facts.hpp"
#include "backends/metal/fail.hpp"
#include "model/compose.hpp"

namespace hmn::metal {
namespace {

constexpr std::string_view ledger_name = "graphics_footprint";
constexpr std::size_t most_kinds = 512;
constexpr std::size_t most_processes = 1U << 20;

// The kernel expects the pid in a pointer argument.
void* as_argument(std::uint32_t pid) {
  return reinterpret_cast<void*>(static_cast<std::uintptr_t>(pid));
}

}  // namespace

result<std::size_t> graphics_ledger::find_place() {
  if (place_) return *place_;
  std::vector<mach::ledger_kind> kinds(most_kinds);
  int length = static_cast<int>(kinds.size());
  if (k_.ledger(mach::ledger_template_info, kinds.data(), &length, nullptr) != 0) {
    return fail(status::backend, "the kernel does not describe its ledgers", errno);
  }
  for (std::size_t i = 0; i < kinds.size() && static_cast<int>(i) < length; ++i) {
    if (std::string_view(kinds[i].name, strnlen(kinds[i].name, sizeof kinds[i].name)) !=
        ledger_name) {
      continue;
    }
    place_ = i;
    return i;
  }
  return fail(status::unsupported, "this macOS does not count graphics memory of processes");
}

result<std::uint64_t> graphics_ledger::used_by(std::uint32_t pid) {
  const result<std::size_t> place = find_place();
  if (!place) return place.why();
  std::vector<mach::ledger_entry> entries(*place + 1);
  int length = static_cast<int>(entries.size());
  if (k_.ledger(mach::ledger_entry_info, as_argument(pid), entries.data(), &length) != 0) {
    return mach::why_not(source::metal, pid, "the graphics memory", errno);
  }
  if (length <= static_cast<int>(*place)) {
    return fail(status::backend, "the kernel gave a ledger that is too short");
  }
  if (entries[*place].balance < 0) {
    return fail(status::backend, {"the kernel counts less than nothing for process ", pid});
  }
  return static_cast<std::uint64_t>(entries[*place].balance);
}

result<std::vector<int>> graphics_ledger::processes() const {
  const int bytes = k_.list_pids(mach::all_pids, 0, nullptr, 0);
  if (bytes <= 0) return fail(status::backend, "the kernel gave no list of processes", errno);
  // Processes may start in between. A list that fills the buffer may be truncated.
  std::vector<int> pids(static_cast<std::size_t>(bytes) / sizeof(int) + 64);
  for (; pids.size() < most_processes; pids.resize(pids.size() * 2)) {
    const auto room = pids.size() * sizeof(int);
    const int got = k_.list_pids(mach::all_pids, 0, pids.data(), static_cast<int>(room));
    if (got <= 0) return fail(status::backend, "the kernel gave no list of processes", errno);
    if (static_cast<std::size_t>(got) >= room) continue;
    pids.resize(static_cast<std::size_t>(got) / sizeof(int));
    return pids;
  }
  return fail(status::limit, "there are too many processes");
}

}  // namespace hmn::metal
