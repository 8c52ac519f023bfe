// SPDX-License-Identifier: MIT OR Apache-2.0
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "procfs/meminfo.hpp"

namespace hmn::procfs {

// The fields of /proc/<pid>/stat that are used, named as in proc(5).
struct Stat {
  std::uint32_t pid = 0;
  std::string_view comm;  // into the text
  char state = '?';
  std::uint32_t ppid = 0;
  std::uint64_t flags = 0;
  std::uint64_t num_threads = 0;
  std::uint64_t starttime = 0;         // clock ticks since boot
  std::optional<std::uint64_t> vsize;  // bytes
  std::optional<std::uint64_t> rss;    // pages

  // Tests PF_KTHREAD, include/linux/sched.h.
  [[nodiscard]] bool is_kernel_thread() const noexcept { return (flags & 0x00200000) != 0; }
  [[nodiscard]] bool is_dead() const noexcept {
    return state == 'Z' || state == 'X' || state == 'x';
  }
  // Returns whether the first thread has ended while others continue: the process lives, but its
  // own folder shows no memory.
  [[nodiscard]] bool is_headless() const noexcept { return is_dead() && num_threads > 1; }
  [[nodiscard]] bool has_exited() const noexcept { return is_dead() && num_threads <= 1; }
};

std::optional<Stat> parse_stat(std::string_view text) noexcept;

// Returns utime + stime in clock ticks; both include threads that have ended.
std::optional<std::uint64_t> parse_processor_ticks(std::string_view text) noexcept;

// Returns the signal that the parent gets when the process exits: SIGCHLD, even if it was adopted,
// or 0 if it was cloned without one. Returns none for malformed text.
std::optional<std::uint64_t> parse_exit_signal(std::string_view text) noexcept;

// Returns whether it is a kernel thread, which has no descriptors. Returns false for malformed
// text.
bool is_kernel_thread(std::string_view stat_text) noexcept;

// Values of /proc/<pid>/statm, in pages.
struct Statm {
  std::uint64_t size = 0;
  std::uint64_t resident = 0;
};

std::optional<Statm> parse_statm(std::string_view text) noexcept;

// Memory lines of /proc/<pid>/status. A process without memory has none.
struct StatusMemory {
  Amount vm_rss;
  Amount vm_hwm;
  Amount vm_size;
  Amount vm_swap;
};

StatusMemory parse_status(std::string_view text) noexcept;

// Parses NSpid: the process's pid in each of its PID namespaces, from that of the proc tree
// inwards. Linux 4.1; empty: no such line.
std::vector<std::uint32_t> parse_namespace_pids(std::string_view status);

// Parses CapEff: a bit for each effective capability, include/uapi/linux/capability.h; 0: no such
// line.
std::uint64_t parse_effective_capabilities(std::string_view status) noexcept;

// The lines of smaps_rollup (Linux 4.14) that are used.
struct SmapsRollup {
  Amount pss;
  Amount private_clean;
  Amount private_dirty;

  // Returns the memory that only this process maps. Private_Hugetlb is not counted: Rss and Pss
  // exclude huge pages of hugetlbfs as well, so that unique <= Pss <= Rss.
  [[nodiscard]] Amount unique() const noexcept;
};

SmapsRollup parse_smaps_rollup(std::string_view text) noexcept;

// Length limit of a process name in the kernel.
inline constexpr std::size_t max_comm_length = 15;

// Returns the file name of argv[0] if `comm` is its beginning, else `comm`. `cmdline` has a NUL
// after each argument, or is a title that the program has written.
std::string_view find_full_name(std::string_view comm, std::string_view cmdline) noexcept;

// Appends the arguments as UTF-8, separated by blanks. `is_cut`: `cmdline` may be incomplete.
void append_command(std::string& out, std::string_view cmdline, bool is_cut);

}  // namespace hmn::procfs
