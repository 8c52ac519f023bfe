// SPDX-License-Identifier: MIT OR Apache-2.0
//
// What contexts cost between readings: memory, descriptors, threads, and processor time. The first
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

double entries_of(const char* folder) {
  const std::filesystem::directory_iterator all(folder);
  return static_cast<double>(std::distance(begin(all), end(all)));
}

struct Held {
  double bytes, descriptors, threads;

  static Held now() {
    return {static_cast<double>(mallinfo2().uordblks), entries_of("/proc/self/fd"),
            entries_of("/proc/self/task")};
  }
};

// Counters are of each of 100 contexts that have read a device once.
void contexts_at_rest(benchmark::State& state) {
  constexpr int contexts = 100;
  const auto warm = std::make_unique<bench::Machine>(0);  // loads what all of them share
  auto error = bench::sized<hmn_error>();
  auto pool = bench::sized<hmn_pool>();
  bench::must(hmn_pool_read(warm->context(), 0, HMN_POOL_MAIN, 0, 0, &pool, &error), error);
  for (auto _ : state) {
    const Held before = Held::now();
    std::vector<std::unique_ptr<bench::Machine>> all;
    for (int i = 0; i < contexts; ++i) {
      all.push_back(std::make_unique<bench::Machine>(0));
      bench::must(hmn_pool_read(all.back()->context(), 0, HMN_POOL_MAIN, 0, 0, &pool, &error),
                  error);
    }
    const Held after = Held::now();
    state.counters["bytes"] = (after.bytes - before.bytes) / contexts;
    state.counters["descriptors"] = (after.descriptors - before.descriptors) / contexts;
    state.counters["threads"] = (after.threads - before.threads) / contexts;
    constexpr int seconds = 3;
    const double used = bench::used_seconds();
    std::this_thread::sleep_for(std::chrono::seconds(seconds));
    state.counters["core_percent"] = 100 * (bench::used_seconds() - used) / seconds / contexts;
  }
}
BENCHMARK(contexts_at_rest)->UseRealTime()->Iterations(1)->Unit(benchmark::kMillisecond);

}  // namespace
