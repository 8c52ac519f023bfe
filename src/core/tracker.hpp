// SPDX-License-Identifier: MIT OR Apache-2.0
#pragma once

#include <atomic>
#include <cstdint>
#include <memory>
#include <string_view>

#include "core/context.hpp"
#include "core/limited_account.hpp"

namespace hmn {

struct tracker_report {
  limited_figures budget;
  std::uint64_t refused = 0;
  std::uint32_t tags = 0;
};

struct tag_report {
  const char* name = nullptr;  // as long as the tracker lives
  account_figures bytes;
};

// A budget that a program keeps to. Plain memory without a lock: a fork leaves each side its own.
class tracker {
 public:
  static constexpr std::uint32_t longest_name = 63;

  // `linked` may be null. `limit`: `unlimited` for none.
  tracker(std::shared_ptr<context> linked, std::uint32_t device_index, std::uint64_t limit,
          std::uint32_t tag_capacity);
  tracker(const tracker&) = delete;
  tracker& operator=(const tracker&) = delete;
  ~tracker();

  // Tag 0: none. status::ok, limit, or range for a tag that is none or more than is allocated.
  status allocate(std::uint32_t tag, std::uint64_t bytes) noexcept;
  status release(std::uint32_t tag, std::uint64_t bytes) noexcept;
  [[nodiscard]] result<void> would_fit(std::uint64_t bytes) const;
  bool set_limit(std::uint64_t limit) noexcept { return budget_.set_limit(limit); }
  void reset() noexcept;

  result<std::uint32_t> tag(std::string_view name);
  [[nodiscard]] bool has_tag(std::uint32_t tag) const noexcept;
  // The tag is one.
  [[nodiscard]] tag_report read_tag(std::uint32_t tag) const noexcept;

  [[nodiscard]] tracker_report report() const noexcept;
  [[nodiscard]] bool is_linked() const noexcept { return linked_ != nullptr; }
  [[nodiscard]] std::uint32_t device_index() const noexcept { return device_index_; }
  [[nodiscard]] failure exceeded(std::uint64_t bytes) const;

 private:
  using word = std::atomic<std::uint64_t>;
  struct tag_slot {
    std::atomic<const char*> name{nullptr};  // set once, with the whole name behind it
    account<word> bytes;
  };

  [[nodiscard]] result<void> would_fit_device(std::uint64_t bytes) const;

  // Reading raises a peak that is on its way. One cache line: two cost thrice the time.
  using budget = limited_account<double_word, word>;
  alignas(sizeof(budget)) mutable budget budget_;
  word refused_{0};
  std::uint32_t tag_capacity_;
  std::uint32_t device_index_;
  std::unique_ptr<tag_slot[]> tags_;
  std::shared_ptr<context> linked_;
};

}  // namespace hmn
