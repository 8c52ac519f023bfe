// SPDX-License-Identifier: MIT OR Apache-2.0
#pragma once

#include <atomic>
#include <bit>
#include <cstdint>
#include <memory>
#include <string_view>

#include "core/account.hpp"
#include "core/context.hpp"

namespace hmn {

struct TrackerReport {
  LimitedValues budget;
  std::uint64_t refused_count = 0;
  std::uint32_t tag_count = 0;
};

struct TagReport {
  const char* name = nullptr;  // lives as long as the tracker
  AccountValues bytes;
};

// Memory budget that a program manages itself. Plain memory without a lock: after a fork, parent
// and child have separate ones.
class Tracker {
 public:
  static constexpr std::uint32_t max_name_size = 63;

  // `context` may be null; `limit` may be `unlimited`.
  Tracker(std::shared_ptr<Context> context, std::uint32_t device_index, std::uint64_t limit,
          std::uint32_t tag_capacity);
  Tracker(const Tracker&) = delete;
  Tracker& operator=(const Tracker&) = delete;
  ~Tracker();

  // Returns ok, limit, or range for an unknown tag or an overflow. Tag 0 is none.
  Status allocate(std::uint32_t tag, std::uint64_t bytes) noexcept;
  Status release(std::uint32_t tag, std::uint64_t bytes) noexcept;
  [[nodiscard]] Result<void> would_fit(std::uint64_t bytes) const;
  bool set_limit(std::uint64_t limit) noexcept { return budget_.set_limit(limit); }
  void reset() noexcept;

  Result<std::uint32_t> tag(std::string_view name);
  [[nodiscard]] bool has_tag(std::uint32_t tag) const noexcept;
  // The tag must exist.
  [[nodiscard]] TagReport read_tag(std::uint32_t tag) const noexcept;

  [[nodiscard]] TrackerReport report() const noexcept;
  [[nodiscard]] bool is_linked() const noexcept { return context_ != nullptr; }
  [[nodiscard]] std::uint32_t device_index() const noexcept { return device_index_; }
  [[nodiscard]] Failure limit_failure(std::uint64_t bytes) const;

 private:
  using Word = std::atomic<std::uint64_t>;
  struct TagSlot {
    std::atomic<const char*> name{nullptr};  // set once, after the whole name is written
    Account<Word> bytes;
  };

  [[nodiscard]] Result<void> would_fit_device(std::uint64_t bytes) const;

  // Reading raises a pending peak. Both are in one cache line: two would take three times as long.
  using Budget = LimitedAccount<DoubleWord, Word>;
  alignas(std::bit_ceil(sizeof(Budget))) mutable Budget budget_;
  Word refused_count_{0};
  std::uint32_t tag_capacity_;
  std::uint32_t device_index_;
  std::unique_ptr<TagSlot[]> tags_;
  std::shared_ptr<Context> context_;
};

}  // namespace hmn
