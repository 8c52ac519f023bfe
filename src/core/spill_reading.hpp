// SPDX-License-Identifier: MIT OR Apache-2.0
//
// Extracts from a snapshot the device memory that is, or should be, elsewhere.
#pragma once

#include "core/snapshot.hpp"
#include "core/spill_history.hpp"

namespace hmn {

struct spill_reading {
  result<spill_sample> sample;
  bool is_for_ever = false;     // the device will never report it
  bool needs_processes = true;  // else nothing more comes of them
};

spill_reading spill_reading_of(const snapshot& taken, std::uint32_t device_index);

}  // namespace hmn
