// SPDX-License-Identifier: MIT OR Apache-2.0
#include "cli/top/rates.hpp"

#include "cli/units.hpp"

namespace hmn::cli::top {

std::optional<double> counter_rate::add(std::optional<std::uint64_t> count, std::uint64_t at_ns) {
  if (count && count_ && at_ns == at_ns_) return rate_;
  rate_.reset();
  if (count && count_ && *count >= *count_ && at_ns > at_ns_)
    rate_ = static_cast<double>(*count - *count_) * ns_per_s / static_cast<double>(at_ns - at_ns_);
  count_ = count;
  at_ns_ = at_ns;
  return rate_;
}

}  // namespace hmn::cli::top
