// SPDX-License-Identifier: MIT OR Apache-2.0
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <utility>
#include <vector>

#include "core/context.hpp"
#include "core/latest_board.hpp"
#include "core/snapshot.hpp"

namespace hmn {

// Schedule of a periodic task: slot n is due n intervals after the start, regardless of how long
// earlier slots took.
class Schedule {
 public:
  Schedule(std::uint64_t start_ns, std::uint64_t interval_ns) noexcept
      : start_ns_(start_ns), interval_ns_(interval_ns) {}

  [[nodiscard]] std::uint64_t slot() const noexcept { return slot_; }
  [[nodiscard]] std::uint64_t due_ns() const noexcept {
    if (slot_ > (platform::no_deadline - start_ns_) / interval_ns_) return platform::no_deadline;
    return start_ns_ + slot_ * interval_ns_;
  }

  // Advances to the newest slot that is due, or to the next one. Returns the number of skipped
  // slots.
  std::uint64_t advance(std::uint64_t now_ns) noexcept {
    const std::uint64_t current = now_ns > start_ns_ ? (now_ns - start_ns_) / interval_ns_ : 0;
    const std::uint64_t next = std::max(slot_ + 1, current);
    const std::uint64_t skip_count = next - slot_ - 1;
    slot_ = next;
    return skip_count;
  }

 private:
  std::uint64_t start_ns_;
  std::uint64_t interval_ns_;
  std::uint64_t slot_ = 0;
};

// Selects the first slot of every n that is reached, for values that are read less often.
class NthSlotFilter {
 public:
  explicit NthSlotFilter(std::uint64_t n) noexcept : n_(n) {}

  [[nodiscard]] bool selects(std::uint64_t slot) noexcept {
    if (slot < next_) return false;
    next_ = (slot / n_ + 1) * n_;
    return true;
  }

 private:
  std::uint64_t n_;
  std::uint64_t next_ = 0;
};

// Unread snapshots, the oldest first. The capacity is fixed, so that a reader that no longer reads
// costs no more memory.
class SnapshotRing {
 public:
  explicit SnapshotRing(std::size_t capacity) : entries_(capacity) {}

  [[nodiscard]] std::size_t size() const noexcept { return size_; }

  // Returns the oldest snapshot if it was dropped to free a slot.
  std::unique_ptr<Snapshot> push(std::unique_ptr<Snapshot> snapshot) noexcept {
    std::unique_ptr<Snapshot> oldest;
    if (size_ == entries_.size()) oldest = pop();
    entries_[(first_ + size_) % entries_.size()] = std::move(snapshot);
    ++size_;
    return oldest;
  }

  std::unique_ptr<Snapshot> pop() noexcept {
    if (size_ == 0) return nullptr;
    std::unique_ptr<Snapshot> oldest = std::move(entries_[first_]);
    first_ = (first_ + 1) % entries_.size();
    --size_;
    return oldest;
  }

 private:
  std::vector<std::unique_ptr<Snapshot>> entries_;
  std::size_t first_ = 0;
  std::size_t size_ = 0;
};

// Peak values of a device, or of one process on it, each independent of the others.
struct Peak {
  std::uint32_t device_index = 0;
  std::uint32_t pid = 0;  // 0: the device
  Source source = Source::none;
  std::uint32_t notes = 0;
  hmn::Accounting accounting = hmn::Accounting::none;
  std::optional<std::uint64_t> process_key;
  std::optional<std::uint64_t> start_unix_ns;
  std::optional<std::uint64_t> used;
  std::optional<std::uint64_t> host_pool;
  std::optional<std::uint64_t> host_resident;
  std::uint64_t used_monotonic_ns = 0;
  std::uint64_t last_seen_monotonic_ns = 0;
};

// Peaks outlive the snapshots that they were seen in.
class Peaks {
 public:
  // Limit above which peaks of ended processes are dropped.
  static constexpr std::size_t max_entries = 65536;

  void observe(const Snapshot& snapshot);
  // Returns the device's peak for pid 0; nullptr if it was never seen.
  [[nodiscard]] const Peak* find(std::uint32_t device_index, std::uint32_t pid) const noexcept;

 private:
  [[nodiscard]] Peak& find_or_add_peak(std::uint32_t device_index, std::uint32_t pid);
  void observe_pool(const Pool& pool, std::uint64_t now);
  void observe_usage(const Usage& row, std::uint64_t now);

  std::vector<Peak> entries_;  // by device, then pid
};

struct SamplerSettings {
  std::uint64_t interval_ns = 0;
  std::uint64_t process_interval_ns = 0;
  std::uint32_t capacity = 0;
  bool peaks_only = false;
};

// HMN_SAMPLER_* of the C interface; src/api asserts it.
enum class SamplerState : std::uint32_t {
  idle = HMN_SAMPLER_STATE_IDLE,
  running = HMN_SAMPLER_STATE_RUNNING,
  stopped = HMN_SAMPLER_STATE_STOPPED,
};

struct SamplerReport {
  SamplerState state = SamplerState::idle;
  std::uint32_t pending = 0;
  std::uint64_t taken_count = 0;
  std::uint64_t dropped_count = 0;
  std::uint64_t late_count = 0;
  std::uint64_t failed_count = 0;
  std::optional<std::uint64_t> last_monotonic_ns;
  Status last_status = Status::ok;
};

// Thread that takes snapshots on a schedule. It owns everything it uses, so that it can be
// abandoned in a driver call. Safe for concurrent use by any number of threads.
class Sampler {
 public:
  Sampler(std::shared_ptr<Context> context, const SamplerSettings& settings,
          const SnapshotRequest& request);
  Sampler(const Sampler&) = delete;
  Sampler& operator=(const Sampler&) = delete;
  ~Sampler();

  // Returns whether this process is a fork of the one that made the sampler. Takes no lock.
  [[nodiscard]] bool is_forked() const noexcept;

  Result<void> start();
  Result<void> stop();
  Result<std::unique_ptr<Snapshot>> next(std::uint64_t timeout_ns);
  // Returns a descriptor or handle that is ready whenever next() would not wait.
  Result<std::int64_t> handle();
  [[nodiscard]] SamplerReport report() const;

  [[nodiscard]] const LatestBoard& latest() const noexcept;
  // Returns false for an unknown device and an empty `out` for an unknown process. pid 0 is the
  // device.
  bool find_peak(std::uint32_t device_index, std::uint32_t pid, std::optional<Peak>& out) const;

 private:
  struct Core;
  std::shared_ptr<Core> core_;
};

}  // namespace hmn
