// SPDX-License-Identifier: MIT OR Apache-2.0
#pragma once
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "cli/measure/run_sample.hpp"
#include "cli/text/curve.hpp"

namespace hmn::cli {

// Peak and history of a value in bounded memory.
class tracked {
 public:
  // Adds a reading. One without a value is a gap, unless there was nothing to read. A value of some
  // age, which is renewed more seldom than it is read, is that of the time it was taken.
  void add(std::uint64_t at_ns, const std::optional<std::uint64_t>& bytes, bool is_idle = false,
           std::uint64_t age_ns = 0);

  struct peak {
    std::uint64_t bytes = 0;
    std::uint64_t at_ns = 0;
  };
  const std::optional<peak>& highest() const { return highest_; }
  // Returns the number of values; a gap is none.
  std::uint64_t count() const { return count_; }
  std::uint64_t gaps() const { return gaps_; }
  // Returns the longest time without a value from the start to the end of the run.
  std::uint64_t longest_gap_ns(std::uint64_t end_ns) const;
  const curve& line() const { return line_; }

 private:
  std::optional<peak> highest_;
  std::uint64_t count_ = 0;
  std::uint64_t gaps_ = 0;
  std::uint64_t known_until_ns_ = 0;
  std::uint64_t longest_gap_ns_ = 0;
  curve line_;
};

struct device_account {
  tracked command;
  tracked used;
  curve load;                   // percent
  curve power;                  // watts
  bool is_lower_bound = false;  // the command's value
  std::string why;              // reason for the command's missing value
  std::string why_used;         // reason for the device's missing value
};

// Samples of a run of any length, in bounded memory.
class run_account {
 public:
  explicit run_account(std::size_t devices) : devices_(devices) {}
  void add(const run_sample& sample);

  const tracked& resident() const { return resident_; }
  const tracked& proportional() const { return proportional_; }
  const tracked& group() const { return group_; }
  const std::vector<device_account>& devices() const { return devices_; }
  // Returns why the host's values are missing.
  const std::string& why() const { return why_; }

 private:
  tracked resident_;
  tracked proportional_;
  tracked group_;
  std::vector<device_account> devices_;
  std::string why_ = ended_too_early;
};

}  // namespace hmn::cli
