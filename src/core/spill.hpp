// SPDX-License-Identifier: MIT OR Apache-2.0
#pragma once

#include <atomic>
#include <cstdint>
#include <memory>
#include <optional>
#include <string_view>

#include "core/context.hpp"
#include "core/spill_history.hpp"

namespace hmn {

struct spill_report {
  spill_totals totals;
  std::uint64_t skipped = 0;
  std::uint64_t first_kept = 0;
  failure why;  // of the last attempt; ok if it gave a sample
};

// Detects device memory that moves to the host. Safe for concurrent use by any number of threads.
class spill {
 public:
  // Takes no measurement of its own without a context.
  spill(std::shared_ptr<context> from, std::uint32_t device_index, const spill_thresholds& by);
  spill(const spill&) = delete;
  spill& operator=(const spill&) = delete;

  // Returns whether this process is a fork of the one that made the context, or was forked during a
  // write. Takes no lock.
  [[nodiscard]] bool is_forked() const noexcept;
  [[nodiscard]] std::uint32_t device_index() const noexcept { return index_; }

  result<void> observe(std::string_view label);
  result<void> observe(const snapshot& taken, std::string_view label);
  void feed(const spill_sample& sample, std::string_view label);
  [[nodiscard]] spill_report report() const;
  [[nodiscard]] std::optional<spill_episode> episode(std::uint64_t number) const;

 private:
  class hold;

  const std::shared_ptr<context> from_;
  const std::uint32_t index_;
  // process_generation() of the current writer; 0: none.
  mutable std::atomic<std::uint64_t> held_by_{0};
  spill_history history_;
  std::uint64_t skipped_ = 0;
  failure why_;
  bool is_for_ever_ = false;
  bool asks_processes_ = true;
};

}  // namespace hmn
