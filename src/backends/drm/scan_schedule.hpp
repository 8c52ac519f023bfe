// SPDX-License-Identifier: MIT OR Apache-2.0
//
// Schedule of process scans. Each process is scanned within `every_ns`; over several readings in
// that time, each scans about an equal share.
#pragma once

#include <cstddef>
#include <cstdint>

namespace hmn::drm {

class scan_schedule {
 public:
  explicit scan_schedule(std::uint64_t every_ns) noexcept : every_ns_(every_ns) {}

  // Begins a walk over `known` processes.
  void begin(std::uint64_t now_ns, std::size_t known) noexcept;
  // Called once per walk for each known process, in order of pids.
  [[nodiscard]] bool is_due(std::uint32_t pid, std::uint64_t looked_ns) noexcept;
  void end() noexcept;

  // Whether readings are so rare that each share would be large.
  [[nodiscard]] bool is_slow(std::uint64_t now_ns) const noexcept;

 private:
  std::uint64_t every_ns_;
  std::uint64_t last_ns_ = 0;  // 0: no walk yet
  std::uint64_t latest_ns_ = 0;
  double credit_ = 0;         // processes that this walk may scan
  std::uint32_t cursor_ = 0;  // last pid that was scanned
  std::uint32_t last_pid_ = 0;
};

}  // namespace hmn::drm
