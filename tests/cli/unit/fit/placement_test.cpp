// SPDX-License-Identifier: MIT OR Apache-2.0
#include "cli/fit/placement.hpp"

#include <doctest/doctest.h>

using namespace hmn::cli::fit;

namespace {

// 3 layers of 100 + 10, 50 outside, 5 at work: 385 in all.
Demand needs() {
  Demand made;
  made.layer_weights = {100, 100, 100};
  made.layer_caches = {10, 10, 10};
  made.outside_weights = 50;
  made.weights = 350;
  made.cache = 30;
  made.working = 5;
  return made;
}

struct Expectation {
  Verdict is;
  std::uint64_t layers, device, ram;
};

void check(const Placement& found, const Expectation& wanted) {
  CHECK(found.is == wanted.is);
  CHECK(found.layers == wanted.layers);
  CHECK(found.device_bytes == wanted.device);
  CHECK(found.ram_bytes == wanted.ram);
}

}  // namespace

TEST_CASE("whole, in part, not at all") {
  check(place(needs(), {385, 0, false}), {Verdict::fits, 3, 385, 0});
  // All layers without embedding and output: 5 + 3 * 110; 5 + 50 stay.
  check(place(needs(), {384, 1000, false}), {Verdict::partly, 3, 335, 55});
  check(place(needs(), {335, 55, false}), {Verdict::partly, 3, 335, 55});
  check(place(needs(), {334, 1000, false}), {Verdict::partly, 2, 225, 165});
  check(place(needs(), {334, 165, false}), {Verdict::partly, 2, 225, 165});
  check(place(needs(), {334, 164, false}), {Verdict::does_not_fit, 0, 385, 0});
  check(place(needs(), {115, 1000, false}), {Verdict::partly, 1, 115, 275});
  check(place(needs(), {114, 385, false}), {Verdict::partly, 0, 0, 385});
  check(place(needs(), {114, 384, false}), {Verdict::does_not_fit, 0, 385, 0});
  check(place(needs(), {0, 0, false}), {Verdict::does_not_fit, 0, 385, 0});
}

TEST_CASE("the last layers are those on the device") {
  auto uneven = needs();
  uneven.layer_weights = {300, 40, 10};
  // From the end: 5 + 20, 5 + 20 + 50; then 310 more.
  check(place(uneven, {100, 1000, false}), {Verdict::partly, 2, 75, 315});
}

TEST_CASE("memory that is both the device's and the host's counts once") {
  check(place(needs(), {1000, 385, true}), {Verdict::fits, 3, 385, 0});
  check(place(needs(), {1000, 384, true}), {Verdict::does_not_fit, 0, 385, 0});
  // The device may have 225 of 390, all else is in the same: 225 + 165.
  check(place(needs(), {225, 390, true}), {Verdict::partly, 2, 225, 165});
  check(place(needs(), {225, 389, true}), {Verdict::does_not_fit, 0, 385, 0});
}

TEST_CASE("what firmware set aside of a shared pool comes on top of RAM") {
  check(place(needs(), {385, 300, true, 85}), {Verdict::fits, 3, 385, 0});
  // The device may have 225 of 310 and 80 set aside: 225 + 165.
  check(place(needs(), {225, 310, true, 80}), {Verdict::partly, 2, 225, 165});
  check(place(needs(), {225, 309, true, 80}), {Verdict::does_not_fit, 0, 385, 0});
}

TEST_CASE("what is not known is no answer") {
  CHECK(place(needs(), {std::nullopt, 1000, false}).is == Verdict::unknown);
  CHECK(place(needs(), {100, std::nullopt, false}).is == Verdict::unknown);
  CHECK(place(needs(), {385, std::nullopt, false}).is == Verdict::fits);
  auto weights_alone = needs();
  weights_alone.cache.reset();
  weights_alone.working.reset();
  CHECK(place(weights_alone, {1000, 1000, false}).is == Verdict::unknown);
  CHECK(place(weights_alone, {100, 100, false}).is == Verdict::does_not_fit);
}

TEST_CASE("without a device") {
  check(place_in_ram(needs(), 385), {Verdict::fits, 0, 0, 385});
  check(place_in_ram(needs(), 384), {Verdict::does_not_fit, 0, 0, 385});
  CHECK(place_in_ram(needs(), std::nullopt).is == Verdict::unknown);
}

namespace {

// 8 layers of 100 + 10, 50 outside, 5 at work in each device that takes part.
Demand spread_needs() {
  Demand made;
  made.layer_weights.assign(8, 100);
  made.layer_caches.assign(8, 10);
  made.outside_weights = 50;
  made.weights = 850;
  made.cache = 80;
  made.working = 5;
  return made;
}

std::vector<Capacity> capacities_of(std::initializer_list<std::uint64_t> devices,
                                    std::optional<std::uint64_t> ram) {
  std::vector<Capacity> all;
  for (const auto each : devices) all.push_back({each, ram, false});
  return all;
}

std::vector<std::uint64_t> layers_of(const Spread& of) {
  std::vector<std::uint64_t> all;
  for (const auto& each : of.parts) all.push_back(each.layers);
  return all;
}

using Numbers = std::vector<std::uint64_t>;

}  // namespace

// 8 * 110 + 50 and twice 5.
TEST_CASE("to the last byte: whole layers, working memory in each, the rest with one of them") {
  const auto fits = place_over(spread_needs(), capacities_of({495, 445}, 0));
  CHECK(fits.whole.is == Verdict::fits);
  CHECK(layers_of(fits) == Numbers{4, 4});
  CHECK(fits.parts[0].device_bytes == 495);
  CHECK(fits.parts[1].device_bytes == 445);
  CHECK(fits.whole.device_bytes == 940);
  CHECK(fits.whole.ram_bytes == 0);
  // The one with enough free memory takes what is outside.
  CHECK(place_over(spread_needs(), capacities_of({445, 495}, 0)).parts[1].device_bytes == 495);
  CHECK(place_over(spread_needs(), capacities_of({494, 445}, 0)).whole.is == Verdict::does_not_fit);
  CHECK(place_over(spread_needs(), capacities_of({470, 470}, 0)).whole.is == Verdict::does_not_fit);
  // Three of 345: 3 + 3 layers and 2 with what is outside.
  CHECK(place_over(spread_needs(), capacities_of({335, 335, 335}, 0)).whole.is == Verdict::fits);
}

TEST_CASE("what has room to spare is filled evenly") {
  CHECK(layers_of(place_over(spread_needs(), capacities_of({5000, 5000}, 0))) == Numbers{4, 4});
  const auto uneven = place_over(spread_needs(), capacities_of({6000, 2000}, 0));
  CHECK(layers_of(uneven) == Numbers{6, 2});
}

TEST_CASE("what does not fit leaves its first layers in RAM, with what is outside") {
  // 2 and 1 layers: 5 + 220, 5 + 110; in RAM 5 * 110 + 50 + 5.
  const auto part = place_over(spread_needs(), capacities_of({230, 120}, 605));
  CHECK(part.whole.is == Verdict::partly);
  CHECK(layers_of(part) == Numbers{2, 1});
  CHECK(part.parts[0].device_bytes == 225);
  CHECK(part.parts[1].device_bytes == 115);
  CHECK(part.whole.device_bytes == 340);
  CHECK(part.whole.ram_bytes == 605);
  CHECK(place_over(spread_needs(), capacities_of({230, 120}, 604)).whole.is ==
        Verdict::does_not_fit);
  // One that is too small for a layer takes no part.
  const auto alone = place_over(spread_needs(), capacities_of({114, 230}, 1000));
  CHECK(layers_of(alone) == Numbers{0, 2});
  CHECK(alone.parts[0].device_bytes == 0);
  CHECK(alone.whole.ram_bytes == 6 * 110 + 50 + 5);
}

TEST_CASE("devices in the host's RAM share it") {
  std::vector<Capacity> both = capacities_of({500, 500}, 945);
  for (auto& each : both) each.shared = true;
  CHECK(place_over(spread_needs(), both).whole.is == Verdict::fits);
  for (auto& each : both) each.ram = 939;
  CHECK(place_over(spread_needs(), both).whole.is == Verdict::does_not_fit);
  // Each may have all of RAM; together they have it once.
  for (auto& each : both) each = {940, 940, true};
  CHECK(place_over(spread_needs(), both).whole.is == Verdict::fits);
  both.push_back({115, 835, false});
  for (auto& each : both) each.ram = 835;
  const auto with_card = place_over(spread_needs(), both);
  CHECK(with_card.whole.is == Verdict::fits);
  CHECK(with_card.parts[0].device_bytes + with_card.parts[1].device_bytes <= 835);
}

TEST_CASE("what is not known is no answer") {
  CHECK(place_over(spread_needs(), capacities_of({230, 120}, std::nullopt)).whole.is ==
        Verdict::unknown);
  CHECK(place_over(spread_needs(), capacities_of({500, 500}, std::nullopt)).whole.is ==
        Verdict::fits);
  auto weights_alone = spread_needs();
  weights_alone.cache.reset();
  weights_alone.working.reset();
  CHECK(place_over(weights_alone, capacities_of({1000, 1000}, 1000)).whole.is == Verdict::unknown);
  CHECK(place_over(weights_alone, capacities_of({100, 100}, 100)).whole.is ==
        Verdict::does_not_fit);
}
