// SPDX-License-Identifier: MIT OR Apache-2.0
#pragma once

#include "backends/metal/counters.hpp"
#include "backends/metal/values.hpp"

namespace hmn::metal {

// The GPU's channels of IOReport, which any user may read.
class report {
 public:
  // False: there are no such channels.
  bool open(const frameworks& f);
  [[nodiscard]] counters read() const;
  void close() noexcept;

 private:
  void take(cf channel, counters& into) const;

  const frameworks* f_ = nullptr;
  owned channels_;
  owned subscribed_;
  owned subscription_;
};

}  // namespace hmn::metal
