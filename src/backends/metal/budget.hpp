// SPDX-License-Identifier: MIT OR Apache-2.0
//
// Metal's own devices: the recommended memory budget of each.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "backends/metal/values.hpp"

namespace hmn::metal {

struct metal_device {
  std::uint64_t id = 0;      // registry entry of its accelerator; 0: unknown
  std::uint64_t budget = 0;  // recommendedMaxWorkingSetSize; 0: unknown
};

// Owns Metal's devices: creating them costs milliseconds.
class metal_devices {
 public:
  // `with_default`: create the default device if Metal lists none. On Macs with two GPUs that would
  // switch to the stronger one.
  void open(const frameworks& f, bool with_default);
  [[nodiscard]] std::vector<metal_device> read() const;
  void close() noexcept;

 private:
  const frameworks* f_ = nullptr;
  owned list_;    // all devices
  owned single_;  // else the default device
};

}  // namespace hmn::metal
