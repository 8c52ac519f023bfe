// SPDX-License-Identifier: MIT OR Apache-2.0
#pragma once
#include <cstdint>
#include <optional>

#include "cli/fit/demand.hpp"

namespace hmn::cli::fit {

enum class verdict { fits, partly, does_not_fit, unknown };

// Locations of the parts of a model.
struct placement {
  verdict is = verdict::unknown;
  std::uint64_t layers = 0;  // on the device
  std::uint64_t device_bytes = 0;
  std::uint64_t ram_bytes = 0;
};

struct capacity {
  std::optional<std::uint64_t> device;  // usable
  std::optional<std::uint64_t> ram;     // usable
  bool shared = false;      // the device's pool is a part of RAM: both values are the same bytes
  std::uint64_t apart = 0;  // of a shared pool: what it has beyond RAM, set aside by firmware
};

// Places the whole model on the device if it fits; else the last layers with their cache there,
// embedding, output and the other layers in RAM, and working memory in both.
placement place(const demand& of, const capacity& in);
// Places the model without a device.
placement place_in_ram(const demand& of, std::optional<std::uint64_t> ram);

}  // namespace hmn::cli::fit
