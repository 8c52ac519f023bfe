// SPDX-License-Identifier: MIT OR Apache-2.0
#pragma once
#include <cstdint>
#include <optional>
#include <vector>

#include "cli/fit/demand.hpp"

namespace hmn::cli::fit {

enum class Verdict { fits, partly, does_not_fit, unknown };

// Locations of the parts of a model.
struct Placement {
  Verdict is = Verdict::unknown;
  std::uint64_t layers = 0;  // on the device
  std::uint64_t device_bytes = 0;
  std::uint64_t ram_bytes = 0;
};

struct Capacity {
  std::optional<std::uint64_t> device;  // usable
  std::optional<std::uint64_t> ram;     // usable
  bool shared = false;      // the device's pool is a part of RAM: both values are the same bytes
  std::uint64_t apart = 0;  // of a shared pool: what it has beyond RAM, set aside by firmware
};

// Places the whole model on the device if it fits; else the last layers with their cache there,
// embedding, output and the other layers in RAM, and working memory in both.
Placement place(const Demand& of, const Capacity& in);
// Places the model without a device.
Placement place_in_ram(const Demand& of, std::optional<std::uint64_t> ram);

// Placement on several devices, in their order: contiguous layers, with working memory on each
// device, and embedding and output on one of them.
struct Spread {
  Placement whole;               // of all devices together
  std::vector<Placement> parts;  // of each device: its layers and bytes
};

// Fills all devices to about the same fraction where the model fits; else places the last layers on
// the devices and the others in RAM, as with one device. Each device of the list is known.
Spread place_over(const Demand& of, const std::vector<Capacity>& devices);

}  // namespace hmn::cli::fit
