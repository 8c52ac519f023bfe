// SPDX-License-Identifier: MIT OR Apache-2.0
//
// A config.json, and the memory demand of its model.
#include "cli/fit/config.hpp"
#include "cli/fit/demand.hpp"
#include "cli/fit/placement.hpp"
#include "fuzz.hpp"

using namespace hmn::cli::fit;

void fuzz(std::string_view input) {
  hmn::cli::FitOptions options;
  options.batch = take_byte(input) + 1;
  auto parsed = parse_config(std::string(input));
  if (!parsed) {
    promise(!parsed.error().message.empty());
    return;
  }
  promise(parsed->parameters.layers.size() == parsed->architecture.layers.size());
  auto tensors = estimate_weights(*parsed);
  if (!tensors) return;
  Model model;
  model.weights = *std::move(tensors);
  model.architecture = std::move(parsed->architecture);
  const auto demand = estimate_demand(model, options);
  if (!demand) return;
  promise(demand->total() >= demand->weights);
  const std::uint64_t half = demand->total() / 2;
  const auto placement = place_on_device(*demand, {half, demand->total(), false});
  promise(placement.layers <= demand->layer_weights.size());
  promise(placement.verdict != Verdict::partly || placement.device_bytes <= half);
}
