// SPDX-License-Identifier: MIT OR Apache-2.0
#include <doctest/doctest.h>

#include "machine.hpp"

namespace {

constexpr int cycles = 10000;
constexpr std::uint64_t max_growth = 4 << 20;

std::uint64_t read_resident() {
  return *hypomnesis::context()
              .own_memory(hypomnesis::process_memory_field::resident)
              .resident_bytes;
}

// The context goes first, then the older snapshot, then the newer one.
void run_cycle(int round) {
  std::optional<hypomnesis::context> context(open_machine("small.json"));
  std::optional<hypomnesis::snapshot> older(context->take());
  std::optional<hypomnesis::snapshot> newer(context->take(everything));
  context.reset();
  CHECK(older->device(0).index == 0);
  older.reset();
  if (round % 2 == 0) newer->close();
  hypomnesis::context failing = open_machine("failures.json");
  CHECK_THROWS_AS(failing.pool(static_cast<std::uint32_t>(round % 13)), hypomnesis::error);
}

}  // namespace

TEST_CASE("ten thousand contexts with two snapshots, dropped in the wrong order, leak no memory") {
  for (int i = 0; i < cycles / 10; ++i) run_cycle(i);
  const std::uint64_t before = read_resident();
  for (int i = 0; i < cycles; ++i) run_cycle(i);
  const std::uint64_t after = read_resident();
  CHECK(after < before + max_growth);
}
