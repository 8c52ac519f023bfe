// SPDX-License-Identifier: MIT OR Apache-2.0
//
// What is paid once: the first reading of a context, with its making.
#include <benchmark/benchmark.h>

#include "bench.hpp"

// With its thread, and the opening of the driver.
static void first_pool(benchmark::State& state) {
  hmn_pool pool = {};
  pool.struct_size = sizeof pool;
  hmn_error error = {};
  error.struct_size = sizeof error;
  for (auto _ : state) {
    const bench::Machine machine(0);
    bench::must(hmn_pool_read(machine.context(), 0, HMN_POOL_MAIN, 0, 0, &pool, &error), error);
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
    bench::must(hmn_context_create(nullptr, &context, &error), error);
    bench::must(hmn_process_memory_read_self(context, 0, &memory, &error), error);
    hmn_context_destroy(context);
  }
}
BENCHMARK(first_own_resident_set);
