// SPDX-License-Identifier: MIT OR Apache-2.0
#include <doctest/doctest.h>

#include "machine.hpp"

namespace {

constexpr int cycles = 10000;
constexpr std::uint64_t most_growth = 4 << 20;

std::uint64_t resident() {
  return *hypomnesis::context()
              .own_memory(hypomnesis::process_memory_field::resident)
              .resident_bytes;
}

// The context goes first, then the older snapshot, then the newer one.
void cycle(int round) {
  std::optional<hypomnesis::context> c(machine("small.json"));
  std::optional<hypomnesis::snapshot> a(c->take());
  std::optional<hypomnesis::snapshot> b(c->take(everything));
  c.reset();
  CHECK(a->device(0).index == 0);
  a.reset();
  if (round % 2 == 0) b->close();
  hypomnesis::context refused = machine("failures.json");
  CHECK_THROWS_AS(refused.pool(static_cast<std::uint32_t>(round % 13)), hypomnesis::error);
}

}  // namespace

TEST_CASE("ten thousand contexts with two snapshots, dropped in the wrong order, leave nothing") {
  for (int i = 0; i < cycles / 10; ++i) cycle(i);
  const std::uint64_t before = resident();
  for (int i = 0; i < cycles; ++i) cycle(i);
  const std::uint64_t after = resident();
  CHECK(after < before + most_growth);
}
