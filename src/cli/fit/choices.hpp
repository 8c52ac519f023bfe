// SPDX-License-Identifier: MIT OR Apache-2.0
#pragma once
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "cli/fit/demand.hpp"
#include "cli/fit/placement.hpp"

namespace hmn::cli::fit {

// A way in which the model runs in the memory that is free.
struct Choice {
  std::string text;  // "experts of 31 layers in RAM"
  std::string kv_type;
  std::uint64_t context = 0;        // tokens, as in Demand
  std::uint64_t gpu_layers = 0;     // all of them together
  std::uint64_t expert_layers = 0;  // the first ones, whose experts are in RAM
  std::uint64_t device_bytes = 0;   // of all devices together
  std::uint64_t ram_bytes = 0;
  std::optional<std::uint64_t> longest_context;  // placed like this; none: the weights decide alone
  std::string flags;                             // to type; empty: the runtime has none for it
};

// Memory to run the model in: devices that share it, or RAM alone.
struct Target {
  std::vector<Capacity> devices;  // all of them with a value
  std::optional<std::uint64_t> ram;
  std::vector<std::uint64_t> device_totals;  // whole size of each device; 0: not known
};

// Returns the ways in which the model runs, the most on the devices first. If all of it fits as
// requested, that is the only one.
std::vector<Choice> list_choices(const Model& model, const Demand& demand,
                                 const FitOptions& options, const Target& target);

// Returns the bits per weight of a file that would fit on the devices as requested; none if no size
// of the weights helps, or if it is not known.
std::optional<double> find_fitting_bits(const Model& model, const Demand& demand,
                                        const Target& target);
// Bits per weight of the model's own weights.
std::optional<double> count_bits_per_weight(const Model& model);

// Name of the runtime whose flags they are.
std::string_view runtime_name(const Model& model) noexcept;

}  // namespace hmn::cli::fit
