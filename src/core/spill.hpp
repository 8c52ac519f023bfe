// SPDX-License-Identifier: MIT OR Apache-2.0
#pragma once

#include <atomic>
#include <cstdint>
#include <memory>
#include <optional>
#include <string_view>
#include <vector>

#include "core/context.hpp"
#include "core/snapshot.hpp"
#include "model/failure.hpp"
#include "model/text.hpp"
#include "platform/mutex.hpp"

namespace hmn {

// HMN_SPILL_BY_* of the C interface; src/api asserts it.
namespace spill_rule {
inline constexpr std::uint32_t shared = HMN_SPILL_BY_SHARED;
inline constexpr std::uint32_t evicted = HMN_SPILL_BY_EVICTED;
}  // namespace spill_rule

struct SpillSettings {
  std::uint32_t capacity = 1024;                     // episodes kept
  std::uint64_t dedicated = 0;                       // 0: 85 % of the limit
  std::uint64_t growth = std::uint64_t{256} << 20U;  // over the baseline
};

// One observation of a device's dedicated and shared memory, as measured or as fed by the caller.
struct SpillSample {
  std::uint64_t monotonic_ns = 0;
  std::uint64_t dedicated = 0;
  std::uint64_t shared = 0;
  std::optional<std::uint64_t> limit;
  std::optional<std::uint64_t> evicted;
  bool is_idle = false;  // no process has memory that could be evicted
  std::uint32_t notes = 0;
  Source source = Source::none;
};

using SpillLabel = Text<64>;

struct SpillEpisode {
  std::uint32_t rules = 0;  // spill_rule bits that held in it
  std::uint64_t observations = 0;
  std::uint64_t peak_shared = 0;
  std::optional<std::uint64_t> peak_evicted;
  std::uint64_t start_ns = 0;
  std::uint64_t last_ns = 0;  // of its last observation
  std::optional<std::uint64_t> end_ns;
  SpillLabel start_label;
  SpillLabel end_label;

  [[nodiscard]] std::uint64_t duration_ns() const noexcept { return last_ns - start_ns; }
};

// Totals over all episodes, also of those that are no longer kept.
struct SpillTotals {
  std::uint32_t rules = 0;  // of the last observation; 0: no spill
  std::uint64_t observations = 0;
  std::uint64_t episodes = 0;
  SpillSample last;
  std::optional<std::uint64_t> limit;
  std::uint64_t baseline_shared = 0;
  std::optional<std::uint64_t> baseline_evicted;
  std::uint64_t peak_dedicated = 0;
  std::uint64_t peak_shared = 0;
  std::optional<std::uint64_t> peak_evicted;
  std::uint64_t total_ns = 0;
  std::uint64_t longest_ns = 0;
  std::uint64_t longest_episode = 0;  // number of the longest episode
  SpillLabel first_label;
};

// Detects spills in a sequence of samples, whatever their source.
class SpillHistory {
 public:
  explicit SpillHistory(const SpillSettings& thresholds) : thresholds_(thresholds) {}

  void add(const SpillSample& sample, const SpillLabel& label);

  [[nodiscard]] const SpillTotals& totals() const noexcept { return totals_; }
  // Returns nullptr for a number that is dropped or not reached yet.
  [[nodiscard]] const SpillEpisode* episode(std::uint64_t number) const noexcept;
  [[nodiscard]] std::uint64_t first_episode() const noexcept {
    return totals_.episodes - episodes_.size();
  }

 private:
  [[nodiscard]] std::uint32_t match_rules(const SpillSample& sample) const noexcept;
  void update_totals(const SpillSample& sample);
  void start_episode(const SpillSample& sample, const SpillLabel& label);
  void extend_episode(const SpillSample& sample);
  [[nodiscard]] std::size_t find_position(std::uint64_t number) const noexcept {
    return static_cast<std::size_t>(number % thresholds_.capacity);
  }
  SpillEpisode& last_episode() noexcept { return episodes_[find_position(totals_.episodes - 1)]; }

  SpillSettings thresholds_;
  SpillTotals totals_;
  std::vector<SpillEpisode> episodes_;  // number n is at n % capacity
};

struct SpillReading {
  Result<SpillSample> sample;
  bool is_permanent = false;    // the device will never report it
  bool needs_processes = true;  // false: processes add nothing to the sample
};

SpillReading read_spill(const Snapshot& snapshot, std::uint32_t device_index);

struct SpillReport {
  SpillTotals totals;
  std::uint64_t skipped_count = 0;
  std::uint64_t first_episode = 0;
  Failure failure;  // of the last attempt; ok if it produced a sample
};

// Detects device memory that moves to the host. Safe for concurrent use by any number of threads.
class Spill {
 public:
  // Without a context it takes no measurements of its own.
  Spill(std::shared_ptr<Context> context, std::uint32_t device_index,
        const SpillSettings& thresholds);
  Spill(const Spill&) = delete;
  Spill& operator=(const Spill&) = delete;

  // Returns whether this process is a fork of the one that made the context, or was forked during a
  // call. Takes no lock.
  [[nodiscard]] bool is_forked() const noexcept;
  [[nodiscard]] std::uint32_t device_index() const noexcept { return index_; }

  Result<void> observe(std::string_view label);
  Result<void> observe(const Snapshot& snapshot, std::string_view label);
  void feed(const SpillSample& sample, std::string_view label);
  [[nodiscard]] SpillReport report() const;
  [[nodiscard]] std::optional<SpillEpisode> episode(std::uint64_t number) const;

 private:
  class CountedLock;

  const std::shared_ptr<Context> context_;
  const std::uint32_t index_;
  mutable std::atomic<std::uint64_t> users_{0};  // calls in progress, and their process
  mutable platform::Mutex mutex_;                // guards the members below
  SpillHistory history_;
  std::uint64_t skipped_count_ = 0;
  Failure failure_;
  bool is_permanent_ = false;
  bool reads_processes_ = true;
};

}  // namespace hmn
