// SPDX-License-Identifier: MIT OR Apache-2.0
//
// How busy each process kept the device.
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
  // Gives each row its share; a process without a sample had none. Not on a device that is split,
  // nor on its instances.
  code read(const topic& t, const session& s, const known_device& of, std::span<usage> rows);

 private:
  code ask(const topic& t, const session& s, const known_device& of, std::uint64_t since_us);

  std::vector<process_sample> samples_;  // room for the next
};

}  // namespace hmn::nvml
