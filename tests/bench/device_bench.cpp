// SPDX-License-Identifier: MIT OR Apache-2.0
//
// Direct readings of a device over an NVML whose calls are free.
#include <benchmark/benchmark.h>

#include "bench.hpp"

static void pool_read_inline(benchmark::State& state) {
  const bench::Machine machine(HMN_CONTEXT_NO_THREADS);
  hmn_pool pool = {};
  pool.struct_size = sizeof pool;
  for (auto _ : state) {
    benchmark::DoNotOptimize(
        hmn_pool_read(machine.context(), 0, HMN_POOL_MAIN, 0, 0, &pool, nullptr));
  }
  if (pool.used_bytes == 0) state.SkipWithError("no pool was read");
}
BENCHMARK(pool_read_inline);

static void pool_read_on_worker(benchmark::State& state) {
  const bench::Machine machine(0);
  hmn_pool pool = {};
  pool.struct_size = sizeof pool;
  for (auto _ : state) {
    benchmark::DoNotOptimize(
        hmn_pool_read(machine.context(), 0, HMN_POOL_MAIN, 0, 0, &pool, nullptr));
  }
  if (pool.used_bytes == 0) state.SkipWithError("no pool was read");
}
BENCHMARK(pool_read_on_worker)->UseRealTime();

static void telemetry_read_inline(benchmark::State& state) {
  const bench::Machine machine(HMN_CONTEXT_NO_THREADS);
  hmn_telemetry telemetry = {};
  telemetry.struct_size = sizeof telemetry;
  for (auto _ : state) {
    benchmark::DoNotOptimize(hmn_telemetry_read(machine.context(), 0, 0, &telemetry, nullptr));
  }
  if (telemetry.present == 0) state.SkipWithError("no telemetry was read");
}
BENCHMARK(telemetry_read_inline);
