// SPDX-License-Identifier: MIT OR Apache-2.0
//
// Cost of contexts between readings: memory, descriptors, threads and processor time. The first
// call of one is opening_nvml of own_use_bench.cpp.
#include <benchmark/benchmark.h>
#include <malloc.h>

#include <chrono>
#include <filesystem>
#include <iterator>
#include <memory>
#include <thread>
#include <vector>

#include "bench.hpp"

namespace {

double count_entries(const char* folder) {
  const std::filesystem::directory_iterator entries(folder);
  return static_cast<double>(std::distance(begin(entries), end(entries)));
}

struct ResourceUse {
  double bytes, descriptors, threads;

  static ResourceUse now() {
    return {static_cast<double>(mallinfo2().uordblks), count_entries("/proc/self/fd"),
            count_entries("/proc/self/task")};
  }
};

// Counters are per context, of 100 contexts that have read a device once.
void contexts_at_rest(benchmark::State& state) {
  constexpr int contexts = 100;
  const auto warm_machine = std::make_unique<bench::Machine>(0);  // loads what all of them share
  auto error = bench::sized<hmn_error>();
  auto pool = bench::sized<hmn_pool>();
  bench::require_ok(hmn_pool_read(warm_machine->context(), 0, HMN_POOL_MAIN, 0, 0, &pool, &error),
                    error);
  for (auto _ : state) {
    const ResourceUse before = ResourceUse::now();
    std::vector<std::unique_ptr<bench::Machine>> machines;
    for (int i = 0; i < contexts; ++i) {
      machines.push_back(std::make_unique<bench::Machine>(0));
      bench::require_ok(
          hmn_pool_read(machines.back()->context(), 0, HMN_POOL_MAIN, 0, 0, &pool, &error), error);
    }
    const ResourceUse after = ResourceUse::now();
    state.counters["bytes"] = (after.bytes - before.bytes) / contexts;
    state.counters["descriptors"] = (after.descriptors - before.descriptors) / contexts;
    state.counters["threads"] = (after.threads - before.threads) / contexts;
    constexpr int seconds = 3;
    const double cpu_start = bench::used_seconds();
    std::this_thread::sleep_for(std::chrono::seconds(seconds));
    state.counters["core_percent"] = 100 * (bench::used_seconds() - cpu_start) / seconds / contexts;
  }
}
BENCHMARK(contexts_at_rest)->UseRealTime()->Iterations(1)->Unit(benchmark::kMillisecond);

}  // namespace
