// SPDX-License-Identifier: MIT OR Apache-2.0
//
// A config.json, and what running such a model takes.
#include "cli/fit/config.hpp"
#include "cli/fit/demand.hpp"
#include "cli/fit/placement.hpp"
#include "fuzz.hpp"

using namespace hmn::cli::fit;

void fuzz(std::string_view input) {
  hmn::cli::FitOptions asked;
  asked.batch = take_byte(input) + 1;
  auto parsed = parse_config(std::string(input));
  if (!parsed) {
    promise(!parsed.why().message.empty());
    return;
  }
  promise(parsed->parameters.layers.size() == parsed->shape.layers.size());
  auto counted = weights_of(*parsed);
  if (!counted) return;
  Model of;
  of.of = *std::move(counted);
  of.shape = std::move(parsed->shape);
  const auto needs = demand_of(of, asked);
  if (!needs) return;
  promise(needs->total() >= needs->weights);
  const std::uint64_t half = needs->total() / 2;
  const auto placed = place(*needs, {half, needs->total(), false});
  promise(placed.layers <= needs->layer_weights.size());
  promise(placed.is != Verdict::partly || placed.device_bytes <= half);
}
