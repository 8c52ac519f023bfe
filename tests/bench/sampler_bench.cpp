// SPDX-License-Identifier: MIT OR Apache-2.0
//
// The latest values as a program asks for them every frame, and a sampler at 10 Hz as a share of a
// core.
#include <benchmark/benchmark.h>
#include <malloc.h>

#include <chrono>
#include <thread>

#include "bench.hpp"

namespace {

constexpr uint32_t patience_ms = 60'000;

hmn_sampler* start(hmn_context* context, uint32_t interval_ms) {
  hmn_error error = {};
  error.struct_size = sizeof error;
  hmn_sampler_options options = {};
  options.struct_size = sizeof options;
  options.interval_ns = HMN_MILLISECONDS(interval_ms);
  hmn_sampler* sampler = nullptr;
  bench::require_ok(hmn_sampler_create(context, &options, nullptr, &sampler, &error), error);
  bench::require_ok(hmn_sampler_start(sampler, &error), error);
  hmn_snapshot* first = nullptr;
  bench::require_ok(hmn_sampler_next(sampler, HMN_MILLISECONDS(patience_ms), &first, &error),
                    error);
  hmn_snapshot_destroy(first);
  return sampler;
}

}  // namespace

static void bare_clock_gettime(benchmark::State& state) {
  timespec now;
  for (auto _ : state) benchmark::DoNotOptimize(clock_gettime(CLOCK_MONOTONIC, &now));
}
BENCHMARK(bare_clock_gettime);

static void latest_pool(benchmark::State& state) {
  const bench::Machine machine(0);
  hmn_sampler* sampler = start(machine.context(), 10);
  hmn_pool pool = {};
  pool.struct_size = sizeof pool;
  for (auto _ : state)
    benchmark::DoNotOptimize(hmn_sampler_latest_pool(sampler, 0, &pool, nullptr));
  if ((pool.present & HMN_POOL_HAS_USED) == 0) state.SkipWithError("nothing was read");
  hmn_sampler_destroy(sampler);
}
BENCHMARK(latest_pool);

static void latest_telemetry(benchmark::State& state) {
  const bench::Machine machine(0);
  hmn_sampler* sampler = start(machine.context(), 10);
  hmn_telemetry load = {};
  load.struct_size = sizeof load;
  for (auto _ : state)
    benchmark::DoNotOptimize(hmn_sampler_latest_telemetry(sampler, 0, &load, nullptr));
  if (load.present == 0) state.SkipWithError("nothing was read");
  hmn_sampler_destroy(sampler);
}
BENCHMARK(latest_telemetry);

// With a writer as fast as it can be.
static void latest_pool_beside_a_writer(benchmark::State& state) {
  const bench::Machine machine(0);
  hmn_sampler* sampler = start(machine.context(), 1);
  hmn_pool pool = {};
  pool.struct_size = sizeof pool;
  for (auto _ : state)
    benchmark::DoNotOptimize(hmn_sampler_latest_pool(sampler, 0, &pool, nullptr));
  hmn_sampler_destroy(sampler);
}
BENCHMARK(latest_pool_beside_a_writer);

// Counter `core_percent`: what sampling devices, memory and telemetry ten times a second takes.
static void sampler_at_10_hz(benchmark::State& state) {
  const bench::Machine machine(0);
  hmn_sampler* sampler = start(machine.context(), 100);
  double cpu_seconds = 0;
  double elapsed_seconds = 0;
  for (auto _ : state) {
    const auto start_time = std::chrono::steady_clock::now();
    const double cpu_before = bench::used_seconds();
    std::this_thread::sleep_for(std::chrono::seconds(2));
    cpu_seconds += bench::used_seconds() - cpu_before;
    elapsed_seconds +=
        std::chrono::duration<double>(std::chrono::steady_clock::now() - start_time).count();
  }
  state.counters["core_percent"] = 100 * cpu_seconds / elapsed_seconds;
  hmn_sampler_info info = {};
  info.struct_size = sizeof info;
  hmn_sampler_read(sampler, &info, nullptr);
  if (info.taken_count < 15) state.SkipWithError("it did not keep its schedule");
  hmn_sampler_destroy(sampler);
}
BENCHMARK(sampler_at_10_hz)->UseRealTime()->Iterations(1);

// Counter `bytes`: of each snapshot that a sampler keeps, with pools and telemetry of 8 devices.
static void sampler_ring(benchmark::State& state) {
  const bench::Machine machine(0, bench::make_gpus(8));
  hmn_sampler_options options = {};
  options.struct_size = sizeof options;
  options.interval_ns = HMN_MILLISECONDS(1);
  options.capacity = 4096;
  hmn_snapshot_options collect = {};
  collect.struct_size = sizeof collect;
  collect.collect = HMN_COLLECT_POOLS | HMN_COLLECT_TELEMETRY;
  hmn_error error = {};
  error.struct_size = sizeof error;
  double bytes = 0;
  for (auto _ : state) {
    hmn_sampler* sampler = nullptr;
    bench::require_ok(hmn_sampler_create(machine.context(), &options, &collect, &sampler, &error),
                      error);
    bench::require_ok(hmn_sampler_start(sampler, &error), error);
    hmn_sampler_info info = {};
    info.struct_size = sizeof info;
    struct Point {
      double heap, pending;
    };
    const auto measure_at = [&](uint32_t count) {
      while (info.pending < count) {
        std::this_thread::sleep_for(std::chrono::milliseconds(1));
        hmn_sampler_read(sampler, &info, nullptr);
      }
      return Point{static_cast<double>(mallinfo2().uordblks), static_cast<double>(info.pending)};
    };
    const Point few_snapshots = measure_at(100);
    const Point many_snapshots = measure_at(1000);
    bytes = (many_snapshots.heap - few_snapshots.heap) /
            (many_snapshots.pending - few_snapshots.pending);
    hmn_sampler_destroy(sampler);
  }
  state.counters["bytes"] = bytes;
}
BENCHMARK(sampler_ring)->UseRealTime()->Iterations(1)->Unit(benchmark::kMillisecond);
