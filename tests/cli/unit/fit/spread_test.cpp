// SPDX-License-Identifier: MIT OR Apache-2.0
#include "cli/fit/spread.hpp"

#include <doctest/doctest.h>

using namespace hmn::cli::fit;

namespace {

// 8 layers of 100 + 10, 50 outside, 5 at work in each device that takes part.
demand spread_needs() {
  demand made;
  made.layer_weights.assign(8, 100);
  made.layer_caches.assign(8, 10);
  made.outside_weights = 50;
  made.weights = 850;
  made.cache = 80;
  made.working = 5;
  return made;
}

std::vector<capacity> capacities_of(std::initializer_list<std::uint64_t> devices,
                                    std::optional<std::uint64_t> ram) {
  std::vector<capacity> all;
  for (const auto each : devices) all.push_back({each, ram, false});
  return all;
}

std::vector<std::uint64_t> layers_of(const spread& of) {
  std::vector<std::uint64_t> all;
  for (const auto& each : of.parts) all.push_back(each.layers);
  return all;
}

using numbers = std::vector<std::uint64_t>;

}  // namespace

// 8 * 110 + 50 and twice 5.
TEST_CASE("to the last byte: whole layers, working memory in each, the rest with one of them") {
  const auto fits = place_over(spread_needs(), capacities_of({495, 445}, 0));
  CHECK(fits.whole.is == verdict::fits);
  CHECK(layers_of(fits) == numbers{4, 4});
  CHECK(fits.parts[0].device_bytes == 495);
  CHECK(fits.parts[1].device_bytes == 445);
  CHECK(fits.whole.device_bytes == 940);
  CHECK(fits.whole.ram_bytes == 0);
  // The one with enough free memory takes what is outside.
  CHECK(place_over(spread_needs(), capacities_of({445, 495}, 0)).parts[1].device_bytes == 495);
  CHECK(place_over(spread_needs(), capacities_of({494, 445}, 0)).whole.is == verdict::does_not_fit);
  CHECK(place_over(spread_needs(), capacities_of({470, 470}, 0)).whole.is == verdict::does_not_fit);
  // Three of 345: 3 + 3 layers and 2 with what is outside.
  CHECK(place_over(spread_needs(), capacities_of({335, 335, 335}, 0)).whole.is == verdict::fits);
}

TEST_CASE("what has room to spare is filled evenly") {
  CHECK(layers_of(place_over(spread_needs(), capacities_of({5000, 5000}, 0))) == numbers{4, 4});
  const auto uneven = place_over(spread_needs(), capacities_of({6000, 2000}, 0));
  CHECK(layers_of(uneven) == numbers{6, 2});
}

TEST_CASE("what does not fit leaves its first layers in RAM, with what is outside") {
  // 2 and 1 layers: 5 + 220, 5 + 110; in RAM 5 * 110 + 50 + 5.
  const auto part = place_over(spread_needs(), capacities_of({230, 120}, 605));
  CHECK(part.whole.is == verdict::partly);
  CHECK(layers_of(part) == numbers{2, 1});
  CHECK(part.parts[0].device_bytes == 225);
  CHECK(part.parts[1].device_bytes == 115);
  CHECK(part.whole.device_bytes == 340);
  CHECK(part.whole.ram_bytes == 605);
  CHECK(place_over(spread_needs(), capacities_of({230, 120}, 604)).whole.is ==
        verdict::does_not_fit);
  // One that is too small for a layer takes no part.
  const auto alone = place_over(spread_needs(), capacities_of({114, 230}, 1000));
  CHECK(layers_of(alone) == numbers{0, 2});
  CHECK(alone.parts[0].device_bytes == 0);
  CHECK(alone.whole.ram_bytes == 6 * 110 + 50 + 5);
}

TEST_CASE("devices in the host's RAM share it") {
  std::vector<capacity> both = capacities_of({500, 500}, 945);
  for (auto& each : both) each.shared = true;
  CHECK(place_over(spread_needs(), both).whole.is == verdict::fits);
  for (auto& each : both) each.ram = 939;
  CHECK(place_over(spread_needs(), both).whole.is == verdict::does_not_fit);
  // Each may have all of RAM; together they have it once.
  for (auto& each : both) each = {940, 940, true};
  CHECK(place_over(spread_needs(), both).whole.is == verdict::fits);
  both.push_back({115, 835, false});
  for (auto& each : both) each.ram = 835;
  const auto with_card = place_over(spread_needs(), both);
  CHECK(with_card.whole.is == verdict::fits);
  CHECK(with_card.parts[0].device_bytes + with_card.parts[1].device_bytes <= 835);
}

TEST_CASE("what is not known is no answer") {
  CHECK(place_over(spread_needs(), capacities_of({230, 120}, std::nullopt)).whole.is ==
        verdict::unknown);
  CHECK(place_over(spread_needs(), capacities_of({500, 500}, std::nullopt)).whole.is ==
        verdict::fits);
  auto weights_alone = spread_needs();
  weights_alone.cache.reset();
  weights_alone.working.reset();
  CHECK(place_over(weights_alone, capacities_of({1000, 1000}, 1000)).whole.is == verdict::unknown);
  CHECK(place_over(weights_alone, capacities_of({100, 100}, 100)).whole.is ==
        verdict::does_not_fit);
}
