// SPDX-License-Identifier: MIT OR Apache-2.0
#pragma once
#include <cstdint>
#include <vector>

#include "cli/fit/placement.hpp"

namespace hmn::cli::fit {

// Placement on several devices, in their order: contiguous layers, with working memory on each
// device, and embedding and output on one of them.
struct spread {
  placement whole;               // of all devices together
  std::vector<placement> parts;  // of each device: its layers and bytes
};

// Fills all devices to about the same fraction where the model fits; else places the last layers on
// the devices and the others in RAM, as with one device. Each device of the list is known.
spread place_over(const demand& of, const std::vector<capacity>& devices);

}  // namespace hmn::cli::fit
