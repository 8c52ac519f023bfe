// SPDX-License-Identifier: MIT OR Apache-2.0
#pragma once

#include <cstdint>
#include <optional>

namespace hmn::intel {

struct average_power {
  double watts = 0;
  std::uint64_t window_ns = 0;
};

// Watts from a counter of microjoules that is read now and then.
class energy_meter {
 public:
  // Nothing: there is no earlier reading to compare with, it is too near or too far, or the counter
  // went back.
  std::optional<average_power> read(std::uint64_t microjoules, std::uint64_t at_ns) noexcept;

 private:
  struct sample {
    std::uint64_t microjoules = 0;
    std::uint64_t at_ns = 0;  // 0: none
  };
  sample before_, last_;
};

}  // namespace hmn::intel
