// SPDX-License-Identifier: MIT OR Apache-2.0
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "backends/shared/intel/dialect.hpp"
#include "platform/file.hpp"

namespace hmn::intel {

struct average_power {
  double watts = 0;
  std::uint64_t window_ns = 0;
};

// Watts from occasional readings of a microjoule counter.
class energy_meter {
 public:
  // Returns nothing without an earlier reading, if it is too recent or too old, or if the counter
  // went back.
  std::optional<average_power> read(std::uint64_t microjoules, std::uint64_t at_ns) noexcept;

 private:
  struct sample {
    std::uint64_t microjoules = 0;
    std::uint64_t at_ns = 0;  // 0: none
  };
  sample before_, last_;
};

// Folder of the PCI function whose link goes to the slot. Arc cards have a switch, inside of which
// links read 2.5 GT/s x1: the folder is then the upstream port of the switch, two levels up, or
// nothing if it is not visible (a virtual machine with only the card passed through).
std::string link_folder(std::string_view device_folder);

// Pure. Returns the throttle bit of a kernel reason, "pl1", "thermal".
std::uint32_t throttle_bit(std::string_view reason) noexcept;

// Current throttle reasons of one GT.
platform::errno_or<std::uint32_t> read_throttle(const gt& g);

}  // namespace hmn::intel
