// SPDX-License-Identifier: MIT OR Apache-2.0
//
// Load of the device by each process.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "backends/nvml/call.hpp"
#include "backends/nvml/known_device.hpp"
#include "backends/nvml/session.hpp"
#include "model/usage.hpp"

namespace hmn::nvml {

class process_load {
 public:
  // Sets the load of each row; 0 for a process without a sample. Not for partitioned devices or
  // their instances.
  code read(const topic& t, const session& s, const known_device& of, std::span<usage> rows);

 private:
  code ask(const topic& t, const session& s, const known_device& of, std::uint64_t since_us);

  std::vector<process_sample> samples_;  // buffer of the next call
};

}  // namespace hmn::nvml
