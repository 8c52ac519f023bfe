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

struct tracker_report {
  limited_values budget;
  std::uint64_t refused = 0;
  std::uint32_t tags = 0;
};

struct tag_report {
  const char* name = nullptr;  // lives as long as the tracker
  account_values bytes;
};

// Memory budget that a program keeps for itself. Plain memory without a lock: each side of a fork
// has its own.
class tracker {
 public:
  static constexpr std::uint32_t longest_name = 63;

  // `linked` may be null; `limit` may be `unlimited`.
  tracker(std::shared_ptr<context> linked, std::uint32_t device_index, std::uint64_t limit,
          std::uint32_t tag_capacity);
  tracker(const tracker&) = delete;
  tracker& operator=(const tracker&) = delete;
  ~tracker();

  // Returns ok, limit, or range for an unknown tag or an overflow. Tag 0 is none.
  status allocate(std::uint32_t tag, std::uint64_t bytes) noexcept;
  status release(std::uint32_t tag, std::uint64_t bytes) noexcept;
  [[nodiscard]] result<void> would_fit(std::uint64_t bytes) const;
  bool set_limit(std::uint64_t limit) noexcept { return budget_.set_limit(limit); }
  void reset() noexcept;

  result<std::uint32_t> tag(std::string_view name);
  [[nodiscard]] bool has_tag(std::uint32_t tag) const noexcept;
  // The tag must exist.
  [[nodiscard]] tag_report read_tag(std::uint32_t tag) const noexcept;

  [[nodiscard]] tracker_report report() const noexcept;
  [[nodiscard]] bool is_linked() const noexcept { return linked_ != nullptr; }
  [[nodiscard]] std::uint32_t device_index() const noexcept { return device_index_; }
  [[nodiscard]] failure exceeded(std::uint64_t bytes) const;

 private:
  using word = std::atomic<std::uint64_t>;
  struct tag_slot {
    std::atomic<const char*> name{nullptr};  // set once, after the whole name is written
    account<word> bytes;
  };

  [[nodiscard]] result<void> would_fit_device(std::uint64_t bytes) const;

  // Reading raises a pending peak. Both are in one cache line: two would take three times as long.
  using budget = limited_account<double_word, word>;
  alignas(std::bit_ceil(sizeof(budget))) mutable budget budget_;
  word refused_{0};
  std::uint32_t tag_capacity_;
  std::uint32_t device_index_;
  std::unique_ptr<tag_slot[]> tags_;
  std::shared_ptr<context> linked_;
};

}  // namespace hmn
