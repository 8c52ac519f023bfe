// SPDX-License-Identifier: MIT OR Apache-2.0
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "backends/intel/dialect.hpp"
#include "platform/errno_or.hpp"

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

// The folder of the PCI function whose link is the slot's. An Arc card is behind a switch of its
// own, inside of which links read 2.5 GT/s x1: then it is the switch's upper end, two folders up,
// or nothing where that cannot be seen (a virtual machine that was given the card alone).
std::string link_folder(std::string_view device_folder);

// Pure: the throttle bit of a reason as the kernel names it, "pl1", "thermal".
std::uint32_t throttle_bit(std::string_view reason) noexcept;

// What holds the clock of one GT down now.
platform::errno_or<std::uint32_t> read_throttle(const gt& g);

}  // namespace hmn::intel
