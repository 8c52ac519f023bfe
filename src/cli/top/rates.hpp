// SPDX-License-Identifier: MIT OR Apache-2.0
#pragma once
#include <cstdint>
#include <optional>

namespace hmn::cli::top {

// Rate of a counter between two readings.
class counter_rate {
 public:
  // Returns units per second since the previous count; none after the first one, and when the
  // counter began again.
  std::optional<double> add(std::optional<std::uint64_t> count, std::uint64_t at_ns);

 private:
  std::optional<std::uint64_t> count_;
  std::uint64_t at_ns_ = 0;
  std::optional<double> rate_;
};

}  // namespace hmn::cli::top
