// SPDX-License-Identifier: MIT OR Apache-2.0
//
// Whose turn it is to be looked into again. Each is within `every_ns`, and where there are many
// readings in that time, each of them takes about an equal part of the processes.
#pragma once

#include <cstddef>
#include <cstdint>

namespace hmn::drm {

class scan_schedule {
 public:
  explicit scan_schedule(std::uint64_t every_ns) noexcept : every_ns_(every_ns) {}

  // A walk over `known` processes begins.
  void begin(std::uint64_t now_ns, std::size_t known) noexcept;
  // Asked once in a walk for each that is known, in order of their pids.
  [[nodiscard]] bool is_due(std::uint32_t pid, std::uint64_t looked_ns) noexcept;
  void end() noexcept;

  // So few readings that a part of the processes each would be a large one.
  [[nodiscard]] bool is_slow(std::uint64_t now_ns) const noexcept;

 private:
  std::uint64_t every_ns_;
  std::uint64_t last_ns_ = 0;  // 0: there was no walk yet
  std::uint64_t latest_ns_ = 0;
  double credit_ = 0;         // processes that this walk may take
  std::uint32_t cursor_ = 0;  // the last pid that was taken
  std::uint32_t last_pid_ = 0;
};

}  // namespace hmn::drm
