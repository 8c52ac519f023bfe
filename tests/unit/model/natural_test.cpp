// SPDX-License-Identifier: MIT OR Apache-2.0
#include "model/natural.hpp"

#include <doctest/doctest.h>

using hmn::natural;

TEST_CASE("a natural number grows by factors, addends and shifts") {
  natural n;
  CHECK(n.is_zero());
  CHECK(n.bits() == 0);
  n.shift_left(100);
  CHECK(n.is_zero());
  n.multiply_add(10, 7);
  CHECK(n.bits() == 3);
  n.shift_left(64);
  CHECK(n.bits() == 67);
  n.shift_left(5);
  CHECK(n.bits() == 72);
}

TEST_CASE("powers of ten have the size that they must have") {
  natural n(1);
  n.multiply_by_ten(20);
  CHECK(n.bits() == 67);  // 10^20 lies between 2^66 and 2^67
  natural same(1);
  for (int i = 0; i < 20; ++i) same.multiply_add(10, 0);
  CHECK_FALSE(n.is_below(same));
  CHECK_FALSE(same.is_below(n));
  same.multiply_add(1, 1);
  CHECK(n.is_below(same));
  CHECK_FALSE(same.is_below(n));
}

TEST_CASE("a difference borrows across words and ends at zero") {
  natural n(1);
  n.shift_left(96);
  n.subtract(natural(1));
  CHECK(n.bits() == 96);
  natural all(0xFFFFFFFF);
  all.multiply_add(0xFFFFFFFF, 0xFFFFFFFF);  // (2^32 - 1) * 2^32
  natural same(0xFFFFFFFF);
  same.shift_left(32);
  CHECK_FALSE(all.is_below(same));
  all.subtract(same);
  CHECK(all.is_zero());
}
