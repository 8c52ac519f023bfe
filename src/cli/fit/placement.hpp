// SPDX-License-Identifier: MIT OR Apache-2.0
#pragma once
#include <cstdint>
#include <optional>
#include <vector>

#include "cli/fit/demand.hpp"

namespace hmn::cli::fit {

// Reserve on each device for the runtime itself.
constexpr std::uint64_t reserve_bytes = 512u << 20;

enum class Verdict { fits, partly, does_not_fit, unknown };

constexpr bool is_placed(Verdict verdict) noexcept {
  return verdict == Verdict::fits || verdict == Verdict::partly;
}

// Locations of the parts of a model.
struct Placement {
  Verdict verdict = Verdict::unknown;
  std::uint64_t layers = 0;  // on the device
  std::uint64_t device_bytes = 0;
  std::uint64_t ram_bytes = 0;
};

struct Capacity {
  std::optional<std::uint64_t> device;  // usable
  std::optional<std::uint64_t> ram;     // usable
  bool is_shared = false;      // the device's pool is part of RAM: both values count the same bytes
  std::uint64_t carveout = 0;  // of a shared pool: memory that firmware set aside from RAM for it
};

// Counts the memory with all layers on a device. In llama.cpp, input embeddings stay in RAM.
Placement place_whole(const Demand& demand);
// Counts the memory with the last layers and their cache on a device, the others in RAM, and
// working memory in both. In llama.cpp the output is on the device before any layer, else in RAM.
Placement place_layers(const Demand& demand, std::uint64_t layers);
// `needs_known_ram`: returns false if the RAM is not known.
bool has_memory(const Capacity& capacity, const Placement& placement, bool needs_known_ram);

// Places the whole model on the device if it fits; else as many layers as fit.
Placement place_on_device(const Demand& demand, const Capacity& capacity);
// Places the model without a device.
Placement place_in_ram(const Demand& demand, std::optional<std::uint64_t> ram);

// Placement on several devices, in their order: contiguous layers, with working memory on each
// device, and what is outside layers on one of them: in llama.cpp the output on the last.
struct CombinedPlacement {
  Placement whole;               // of all devices together
  std::vector<Placement> parts;  // of each device: its layers and bytes
};

// Fills all devices to about the same fraction where the model fits; else places the last layers on
// the devices and the others in RAM, as with one device. Requires the device value of every
// capacity.
CombinedPlacement place_across_devices(const Demand& demand, const std::vector<Capacity>& devices);

}  // namespace hmn::cli::fit
