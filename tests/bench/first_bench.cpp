// SPDX-License-Identifier: MIT OR Apache-2.0
//
// One-time costs: creating a context and its first reading.
#include <benchmark/benchmark.h>

#include "bench.hpp"

// Includes starting the thread and opening the driver.
static void first_pool(benchmark::State& state) {
  hmn_pool pool = {};
  pool.struct_size = sizeof pool;
  hmn_error error = {};
  error.struct_size = sizeof error;
  for (auto _ : state) {
    const bench::Machine machine(0);
    bench::require_ok(hmn_pool_read(machine.context(), 0, HMN_POOL_MAIN, 0, 0, &pool, &error),
                      error);
  }
}
BENCHMARK(first_pool)->UseRealTime();

static void first_own_resident_set(benchmark::State& state) {
  hmn_process_memory memory = {};
  memory.struct_size = sizeof memory;
  hmn_error error = {};
  error.struct_size = sizeof error;
  for (auto _ : state) {
    hmn_context* context = nullptr;
    bench::require_ok(hmn_context_create(nullptr, &context, &error), error);
    bench::require_ok(hmn_process_memory_read_self(context, 0, &memory, &error), error);
    hmn_context_destroy(context);
  }
}
BENCHMARK(first_own_resident_set);
