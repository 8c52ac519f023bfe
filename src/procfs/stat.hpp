// SPDX-License-Identifier: MIT OR Apache-2.0
#pragma once

#include <cstdint>
#include <optional>
#include <string_view>

namespace hmn::procfs {

// Fields in use of /proc/<pid>/stat, named as in proc(5).
struct stat {
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

std::optional<stat> parse_stat(std::string_view text) noexcept;

// Returns utime and stime, which include those of the threads that have ended, in clock ticks.
std::optional<std::uint64_t> parse_processor_ticks(std::string_view text) noexcept;

// Tests for a kernel thread, which holds no descriptor. Returns false for malformed text.
bool is_kernel_thread(std::string_view stat_text) noexcept;

}  // namespace hmn::procfs
