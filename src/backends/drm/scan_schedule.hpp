// SPDX-License-Identifier: MIT OR Apache-2.0
//
// Schedule of the search for new clients. Each process is searched within `every_ns`; over several
// readings in that time, each searches about an equal share. The search takes at most `percent` of
// a core. If that does not suffice, it goes through the processes from pid to pid over several
// readings: it compares their numbers of descriptors, and searches one in `turns` of them.
#pragma once

#include <cstddef>
#include <cstdint>

namespace hmn::drm {

enum class search {
  none,   // only the known clients are read
  count,  // all descriptors if there are more or fewer than before
  all,    // all descriptors
};

class scan_schedule {
 public:
  // 100 percent: the search is not limited.
  scan_schedule(std::uint64_t every_ns, std::uint32_t percent) noexcept
      : every_ns_(every_ns), percent_(percent) {}

  // Begins a walk over `known` processes.
  void begin(std::uint64_t now_ns, std::size_t known) noexcept;
  // Whether this walk lists the processes; if it does, what that took is reported to listed().
  [[nodiscard]] bool may_list() const noexcept;
  void listed(std::uint64_t used_ns) noexcept;
  // Called once per walk for each known process, in order of pids. `is_client`: it has clients.
  [[nodiscard]] search of_known(std::uint32_t pid, std::uint64_t looked_ns, bool is_client,
                                search otherwise) noexcept;
  // Whether a process that is not known is searched in this walk.
  [[nodiscard]] bool may_add() const noexcept;
  // Counts the processor time of a search in a process without clients.
  void used(std::uint64_t used_ns) noexcept;
  void end() noexcept;

  [[nodiscard]] bool is_limited() const noexcept { return percent_ < 100 && every_ns_ != 0; }
  // Whether what was seen at that time is older than is allowed.
  [[nodiscard]] bool is_outdated(std::uint64_t seen_ns) const noexcept {
    return last_ns_ - seen_ns > every_ns_;
  }
  // Whether readings are so rare that each share would be large.
  [[nodiscard]] bool is_slow(std::uint64_t now_ns) const noexcept;

 private:
  [[nodiscard]] std::int64_t share_of(std::uint64_t time_ns) const noexcept;
  [[nodiscard]] bool is_due(std::uint32_t pid, std::uint64_t looked_ns) noexcept;
  [[nodiscard]] bool is_overdue(std::uint64_t looked_ns) const noexcept;

  std::uint64_t every_ns_;
  std::uint32_t percent_;
  std::uint64_t last_ns_ = 0;  // 0: no walk yet
  std::uint64_t latest_ns_ = 0;
  double credit_ = 0;         // processes that this walk may search
  std::uint32_t cursor_ = 0;  // last pid that was searched
  std::uint32_t last_pid_ = 0;

  bool is_first_ = true;
  std::int64_t allowed_ns_ = 0;      // processor time that is left
  std::int64_t new_allowed_ns_ = 0;  // that this walk may take for processes that are not known
  std::uint64_t listed_ns_ = 0;
  std::uint64_t listing_ns_ = 0;  // processor time of a listing
  bool is_spent_ = false;         // in this walk
  bool is_behind_ = false;        // spent before all processes had their turn
  std::uint32_t resume_ = 0;      // last pid before the time was spent
  std::uint32_t turn_ = 0;        // of the passes over all processes
};

}  // namespace hmn::drm
