// SPDX-License-Identifier: MIT OR Apache-2.0
#include "cli/fit/placement.hpp"

#include <doctest/doctest.h>

using namespace hmn::cli::fit;

namespace {

// 3 layers of 100 + 10, 50 outside, 5 at work: 385 in total.
Demand make_demand() {
  Demand demand;
  demand.layer_weights = {100, 100, 100};
  demand.layer_caches = {10, 10, 10};
  demand.outside_weights = 50;
  demand.weights = 350;
  demand.cache = 30;
  demand.working = 5;
  return demand;
}

struct ExpectedPlacement {
  Verdict verdict;
  std::uint64_t layers, device, ram;
};

void check_placement(const Placement& actual, const ExpectedPlacement& expected) {
  CHECK(actual.verdict == expected.verdict);
  CHECK(actual.layers == expected.layers);
  CHECK(actual.device_bytes == expected.device);
  CHECK(actual.ram_bytes == expected.ram);
}

}  // namespace

TEST_CASE("a model fits whole, in part or not at all") {
  check_placement(place_on_device(make_demand(), {385, 0, false}), {Verdict::fits, 3, 385, 0});
  // All layers without embedding and output: 5 + 3 * 110; 5 + 50 stay.
  check_placement(place_on_device(make_demand(), {384, 1000, false}),
                  {Verdict::partly, 3, 335, 55});
  check_placement(place_on_device(make_demand(), {335, 55, false}), {Verdict::partly, 3, 335, 55});
  check_placement(place_on_device(make_demand(), {334, 1000, false}),
                  {Verdict::partly, 2, 225, 165});
  check_placement(place_on_device(make_demand(), {334, 165, false}),
                  {Verdict::partly, 2, 225, 165});
  check_placement(place_on_device(make_demand(), {334, 164, false}),
                  {Verdict::does_not_fit, 0, 385, 0});
  check_placement(place_on_device(make_demand(), {115, 1000, false}),
                  {Verdict::partly, 1, 115, 275});
  check_placement(place_on_device(make_demand(), {114, 385, false}), {Verdict::partly, 0, 0, 385});
  check_placement(place_on_device(make_demand(), {114, 384, false}),
                  {Verdict::does_not_fit, 0, 385, 0});
  check_placement(place_on_device(make_demand(), {0, 0, false}),
                  {Verdict::does_not_fit, 0, 385, 0});
}

TEST_CASE("the last layers are placed on the device") {
  auto uneven = make_demand();
  uneven.layer_weights = {300, 40, 10};
  // Counted from the end: 5 + 20, 5 + 20 + 50; then 310 more, with 50 and 5 in RAM.
  check_placement(place_on_device(uneven, {100, 1000, false}), {Verdict::partly, 2, 75, 365});
}

TEST_CASE("llama.cpp places the output first and leaves input embeddings in RAM") {
  auto demand = make_demand();
  demand.output_is_first = true;
  demand.ram_weights = 20;
  demand.split_working = 8;  // with a copy of a tensor that is in RAM
  demand.ram_working = 2;
  check_placement(place_on_device(demand, {385, 22, false}), {Verdict::fits, 3, 385, 22});
  check_placement(place_on_device(demand, {385, 21, false}), {Verdict::does_not_fit, 0, 385, 0});
  check_placement(place_on_device(demand, {384, 1000, false}), {Verdict::partly, 2, 278, 135});
  check_placement(place_on_device(demand, {277, 1000, false}), {Verdict::partly, 1, 168, 245});
}

TEST_CASE("experts of the first layers move to RAM") {
  auto demand = make_demand();
  demand.layer_experts = {60, 60, 60};
  demand.split_working = 8;
  const auto moved = move_experts(demand, 2);
  CHECK(moved.layer_weights == std::vector<std::uint64_t>{40, 40, 100});
  CHECK(moved.ram_weights == 120);
  CHECK(moved.working == 8);
  check_placement(place_whole(moved), {Verdict::unknown, 3, 268, 120});
}

TEST_CASE("memory shared by device and host counts once") {
  check_placement(place_on_device(make_demand(), {1000, 385, true}), {Verdict::fits, 3, 385, 0});
  check_placement(place_on_device(make_demand(), {1000, 384, true}),
                  {Verdict::does_not_fit, 0, 385, 0});
  // The device may have 225 of 390, everything else uses the same memory: 225 + 165.
  check_placement(place_on_device(make_demand(), {225, 390, true}), {Verdict::partly, 2, 225, 165});
  check_placement(place_on_device(make_demand(), {225, 389, true}),
                  {Verdict::does_not_fit, 0, 385, 0});
}

TEST_CASE("memory that firmware sets aside for a shared pool adds to RAM") {
  check_placement(place_on_device(make_demand(), {385, 300, true, 85}), {Verdict::fits, 3, 385, 0});
  // The device may have 225 of 310 and 80 set aside: 225 + 165.
  check_placement(place_on_device(make_demand(), {225, 310, true, 80}),
                  {Verdict::partly, 2, 225, 165});
  check_placement(place_on_device(make_demand(), {225, 309, true, 80}),
                  {Verdict::does_not_fit, 0, 385, 0});
}

TEST_CASE("an unknown amount makes the verdict unknown unless it cannot change the answer") {
  CHECK(place_on_device(make_demand(), {std::nullopt, 1000, false}).verdict == Verdict::unknown);
  CHECK(place_on_device(make_demand(), {100, std::nullopt, false}).verdict == Verdict::unknown);
  CHECK(place_on_device(make_demand(), {385, std::nullopt, false}).verdict == Verdict::fits);
  auto weights_alone = make_demand();
  weights_alone.cache.reset();
  weights_alone.working.reset();
  CHECK(place_on_device(weights_alone, {1000, 1000, false}).verdict == Verdict::unknown);
  CHECK(place_on_device(weights_alone, {100, 100, false}).verdict == Verdict::does_not_fit);
}

TEST_CASE("without a device the model is placed in RAM") {
  check_placement(place_in_ram(make_demand(), 385), {Verdict::fits, 0, 0, 385});
  check_placement(place_in_ram(make_demand(), 384), {Verdict::does_not_fit, 0, 0, 385});
  CHECK(place_in_ram(make_demand(), std::nullopt).verdict == Verdict::unknown);
}

namespace {

// 8 layers of 100 + 10, 50 outside, 5 at work in each device that takes part.
Demand make_spread_demand() {
  Demand demand;
  demand.layer_weights.assign(8, 100);
  demand.layer_caches.assign(8, 10);
  demand.outside_weights = 50;
  demand.weights = 850;
  demand.cache = 80;
  demand.working = 5;
  return demand;
}

std::vector<Capacity> make_capacities(std::initializer_list<std::uint64_t> devices,
                                      std::optional<std::uint64_t> ram) {
  std::vector<Capacity> capacities;
  for (const auto device : devices) capacities.push_back({device, ram, false});
  return capacities;
}

std::vector<std::uint64_t> list_layers(const CombinedPlacement& combined) {
  std::vector<std::uint64_t> layers;
  for (const auto& part : combined.parts) layers.push_back(part.layers);
  return layers;
}

using LayerCounts = std::vector<std::uint64_t>;

}  // namespace

// 8 * 110 + 50 and twice 5.
TEST_CASE("layers are spread whole, with working memory on each device, exact to the byte") {
  const auto fits = place_across_devices(make_spread_demand(), make_capacities({495, 445}, 0));
  CHECK(fits.whole.verdict == Verdict::fits);
  CHECK(list_layers(fits) == LayerCounts{4, 4});
  CHECK(fits.parts[0].device_bytes == 495);
  CHECK(fits.parts[1].device_bytes == 445);
  CHECK(fits.whole.device_bytes == 940);
  CHECK(fits.whole.ram_bytes == 0);
  // The device with enough free memory takes embeddings and output.
  CHECK(place_across_devices(make_spread_demand(), make_capacities({445, 495}, 0))
            .parts[1]
            .device_bytes == 495);
  CHECK(place_across_devices(make_spread_demand(), make_capacities({494, 445}, 0)).whole.verdict ==
        Verdict::does_not_fit);
  CHECK(place_across_devices(make_spread_demand(), make_capacities({470, 470}, 0)).whole.verdict ==
        Verdict::does_not_fit);
  // Three of 345: 3 + 3 layers and 2 with what is outside.
  CHECK(place_across_devices(make_spread_demand(), make_capacities({335, 335, 335}, 0))
            .whole.verdict == Verdict::fits);
}

TEST_CASE("layers are spread in proportion to free memory") {
  CHECK(list_layers(place_across_devices(make_spread_demand(), make_capacities({5000, 5000}, 0))) ==
        LayerCounts{4, 4});
  const auto uneven = place_across_devices(make_spread_demand(), make_capacities({6000, 2000}, 0));
  CHECK(list_layers(uneven) == LayerCounts{6, 2});
}

TEST_CASE("the first layers stay in RAM if they do not fit, with embeddings and output") {
  // 2 and 1 layers: 5 + 220, 5 + 110; in RAM 5 * 110 + 50 + 5.
  const auto partial = place_across_devices(make_spread_demand(), make_capacities({230, 120}, 605));
  CHECK(partial.whole.verdict == Verdict::partly);
  CHECK(list_layers(partial) == LayerCounts{2, 1});
  CHECK(partial.parts[0].device_bytes == 225);
  CHECK(partial.parts[1].device_bytes == 115);
  CHECK(partial.whole.device_bytes == 340);
  CHECK(partial.whole.ram_bytes == 605);
  CHECK(
      place_across_devices(make_spread_demand(), make_capacities({230, 120}, 604)).whole.verdict ==
      Verdict::does_not_fit);
  // A device too small for one layer is not used.
  const auto alone = place_across_devices(make_spread_demand(), make_capacities({114, 230}, 1000));
  CHECK(list_layers(alone) == LayerCounts{0, 2});
  CHECK(alone.parts[0].device_bytes == 0);
  CHECK(alone.whole.ram_bytes == 6 * 110 + 50 + 5);
}

TEST_CASE("devices that share host RAM must fit in it together") {
  std::vector<Capacity> devices = make_capacities({500, 500}, 945);
  for (auto& device : devices) device.is_shared = true;
  CHECK(place_across_devices(make_spread_demand(), devices).whole.verdict == Verdict::fits);
  for (auto& device : devices) device.ram = 939;
  CHECK(place_across_devices(make_spread_demand(), devices).whole.verdict == Verdict::does_not_fit);
  // Each may use all of RAM, but they share it.
  for (auto& device : devices) device = {940, 940, true};
  CHECK(place_across_devices(make_spread_demand(), devices).whole.verdict == Verdict::fits);
  devices.push_back({115, 835, false});
  for (auto& device : devices) device.ram = 835;
  const auto mixed = place_across_devices(make_spread_demand(), devices);
  CHECK(mixed.whole.verdict == Verdict::fits);
  CHECK(mixed.parts[0].device_bytes + mixed.parts[1].device_bytes <= 835);
}

TEST_CASE("an unknown amount makes the verdict unknown unless it cannot change the answer") {
  CHECK(place_across_devices(make_spread_demand(), make_capacities({230, 120}, std::nullopt))
            .whole.verdict == Verdict::unknown);
  CHECK(place_across_devices(make_spread_demand(), make_capacities({500, 500}, std::nullopt))
            .whole.verdict == Verdict::fits);
  auto weights_alone = make_spread_demand();
  weights_alone.cache.reset();
  weights_alone.working.reset();
  CHECK(place_across_devices(weights_alone, make_capacities({1000, 1000}, 1000)).whole.verdict ==
        Verdict::unknown);
  CHECK(place_across_devices(weights_alone, make_capacities({100, 100}, 100)).whole.verdict ==
        Verdict::does_not_fit);
}
