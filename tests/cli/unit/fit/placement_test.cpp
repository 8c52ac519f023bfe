// SPDX-License-Identifier: MIT OR Apache-2.0
#include "cli/fit/placement.hpp"

#include <doctest/doctest.h>

using namespace hmn::cli::fit;

namespace {

// 3 layers of 100 + 10, 50 outside, 5 at work: 385 in all.
demand needs() {
  demand made;
  made.layer_weights = {100, 100, 100};
  made.layer_caches = {10, 10, 10};
  made.outside_weights = 50;
  made.weights = 350;
  made.cache = 30;
  made.working = 5;
  return made;
}

struct expectation {
  verdict is;
  std::uint64_t layers, device, ram;
};

void check(const placement& found, const expectation& wanted) {
  CHECK(found.is == wanted.is);
  CHECK(found.layers == wanted.layers);
  CHECK(found.device_bytes == wanted.device);
  CHECK(found.ram_bytes == wanted.ram);
}

}  // namespace

TEST_CASE("whole, in part, not at all") {
  check(place(needs(), {385, 0, false}), {verdict::fits, 3, 385, 0});
  // All layers without embedding and output: 5 + 3 * 110; 5 + 50 stay.
  check(place(needs(), {384, 1000, false}), {verdict::partly, 3, 335, 55});
  check(place(needs(), {335, 55, false}), {verdict::partly, 3, 335, 55});
  check(place(needs(), {334, 1000, false}), {verdict::partly, 2, 225, 165});
  check(place(needs(), {334, 165, false}), {verdict::partly, 2, 225, 165});
  check(place(needs(), {334, 164, false}), {verdict::does_not_fit, 0, 385, 0});
  check(place(needs(), {115, 1000, false}), {verdict::partly, 1, 115, 275});
  check(place(needs(), {114, 385, false}), {verdict::partly, 0, 0, 385});
  check(place(needs(), {114, 384, false}), {verdict::does_not_fit, 0, 385, 0});
  check(place(needs(), {0, 0, false}), {verdict::does_not_fit, 0, 385, 0});
}

TEST_CASE("the last layers are those on the device") {
  auto uneven = needs();
  uneven.layer_weights = {300, 40, 10};
  // From the end: 5 + 20, 5 + 20 + 50; then 310 more.
  check(place(uneven, {100, 1000, false}), {verdict::partly, 2, 75, 315});
}

TEST_CASE("memory that is both the device's and the host's counts once") {
  check(place(needs(), {1000, 385, true}), {verdict::fits, 3, 385, 0});
  check(place(needs(), {1000, 384, true}), {verdict::does_not_fit, 0, 385, 0});
  // The device may have 225 of 390, all else is in the same: 225 + 165.
  check(place(needs(), {225, 390, true}), {verdict::partly, 2, 225, 165});
  check(place(needs(), {225, 389, true}), {verdict::does_not_fit, 0, 385, 0});
}

TEST_CASE("what firmware set aside of a shared pool comes on top of RAM") {
  check(place(needs(), {385, 300, true, 85}), {verdict::fits, 3, 385, 0});
  // The device may have 225 of 310 and 80 set aside: 225 + 165.
  check(place(needs(), {225, 310, true, 80}), {verdict::partly, 2, 225, 165});
  check(place(needs(), {225, 309, true, 80}), {verdict::does_not_fit, 0, 385, 0});
}

TEST_CASE("what is not known is no answer") {
  CHECK(place(needs(), {std::nullopt, 1000, false}).is == verdict::unknown);
  CHECK(place(needs(), {100, std::nullopt, false}).is == verdict::unknown);
  CHECK(place(needs(), {385, std::nullopt, false}).is == verdict::fits);
  auto weights_alone = needs();
  weights_alone.cache.reset();
  weights_alone.working.reset();
  CHECK(place(weights_alone, {1000, 1000, false}).is == verdict::unknown);
  CHECK(place(weights_alone, {100, 100, false}).is == verdict::does_not_fit);
}

TEST_CASE("without a device") {
  check(place_in_ram(needs(), 385), {verdict::fits, 0, 0, 385});
  check(place_in_ram(needs(), 384), {verdict::does_not_fit, 0, 0, 385});
  CHECK(place_in_ram(needs(), std::nullopt).is == verdict::unknown);
}
