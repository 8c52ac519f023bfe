// SPDX-License-Identifier: MIT OR Apache-2.0
#pragma once
#include <cstdint>
#include <vector>

#include "cli/fit/placement.hpp"

namespace hmn::cli::fit {

// A model over several devices, in their order: whole runs of layers, each device with working
// memory of its own; embedding and output on one of them.
struct spread {
  placement whole;               // of all devices together
  std::vector<placement> parts;  // of each: its layers and bytes
};

// Where all of it fits, every device is filled to about the same part of what it has; else the last
// layers lie on the devices and the rest in RAM, as with one. Each room's device is known.
spread place_over(const demand& of, const std::vector<capacity>& devices);

}  // namespace hmn::cli::fit
