// SPDX-License-Identifier: MIT OR Apache-2.0
//
// Metal's own devices: what it advises a program to use of each.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "backends/metal/values.hpp"

namespace hmn::metal {

struct metal_device {
  std::uint64_t id = 0;      // of its accelerator's entry in the registry; 0: not told
  std::uint64_t budget = 0;  // recommendedMaxWorkingSetSize; 0: not told
};

// Keeps Metal's devices while it lives: making them costs milliseconds.
class metal_devices {
 public:
  // `with_default`: the default device may be made when Metal lists none. On Macs with two GPUs
  // that would switch to the stronger one.
  void open(const frameworks& f, bool with_default);
  [[nodiscard]] std::vector<metal_device> read() const;
  void close() noexcept;

 private:
  const frameworks* f_ = nullptr;
  owned list_;    // of all
  owned single_;  // else the default one
};

}  // namespace hmn::metal
