// SPDX-License-Identifier: MIT OR Apache-2.0
//
// An allocation and its release, against two bare compare-exchanges that add and take away.
#include <benchmark/benchmark.h>

#include <atomic>
#include <cstdint>
#include <thread>

#include "bench.hpp"

namespace {

constexpr std::uint64_t bytes = 4096;

// The limit is never reached: successful allocations are measured.
class LimitedTracker {
 public:
  LimitedTracker() {
    hmn_tracker_options options{};
    options.struct_size = sizeof options;
    options.flags = HMN_TRACKER_LIMITED;
    options.limit_bytes = std::uint64_t{1} << 40;
    hmn_error error{};
    error.struct_size = sizeof error;
    bench::require_ok(hmn_tracker_create(nullptr, 0, &options, &tracker_, &error), error);
    bench::require_ok(hmn_tracker_tag(tracker_, "weights", &tag_, &error), error);
  }
  LimitedTracker(const LimitedTracker&) = delete;
  LimitedTracker& operator=(const LimitedTracker&) = delete;
  ~LimitedTracker() { hmn_tracker_destroy(tracker_); }

  [[nodiscard]] hmn_tracker* tracker() const { return tracker_; }
  [[nodiscard]] std::uint32_t tag() const { return tag_; }

 private:
  hmn_tracker* tracker_ = nullptr;
  std::uint32_t tag_ = 0;
};

LimitedTracker& shared_tracker() {
  static LimitedTracker instance;
  return instance;
}

alignas(64) std::atomic<std::uint64_t> bare{std::uint64_t{1} << 40};

void add_difference(std::uint64_t difference) {
  std::uint64_t now = bare.load();
  while (!bare.compare_exchange_weak(now, now + difference)) {
  }
}

void two_compare_exchanges(benchmark::State& state) {
  for (auto _ : state) {
    add_difference(0 - bytes);
    add_difference(bytes);
  }
}

void tracker_pair(benchmark::State& state) {
  hmn_tracker* tracker = shared_tracker().tracker();
  for (auto _ : state) {
    if (hmn_tracker_allocate(tracker, bytes, nullptr) != HMN_OK ||
        hmn_tracker_release(tracker, bytes, nullptr) != HMN_OK) {
      state.SkipWithError("the tracker refused");
      break;
    }
  }
}

void tracker_tagged_pair(benchmark::State& state) {
  hmn_tracker* tracker = shared_tracker().tracker();
  const std::uint32_t tag = shared_tracker().tag();
  for (auto _ : state) {
    if (hmn_tracker_allocate_tagged(tracker, tag, bytes, nullptr) != HMN_OK ||
        hmn_tracker_release_tagged(tracker, tag, bytes, nullptr) != HMN_OK) {
      state.SkipWithError("the tracker refused");
      break;
    }
  }
}

int all_cores() {
  return static_cast<int>(std::thread::hardware_concurrency());
}

BENCHMARK(two_compare_exchanges);
BENCHMARK(tracker_pair);
BENCHMARK(tracker_tagged_pair);
BENCHMARK(two_compare_exchanges)
    ->Name("two_compare_exchanges_contended")
    ->Threads(all_cores())
    ->UseRealTime();
BENCHMARK(tracker_pair)->Name("tracker_pair_contended")->Threads(all_cores())->UseRealTime();
BENCHMARK(tracker_tagged_pair)
    ->Name("tracker_tagged_pair_contended")
    ->Threads(all_cores())
    ->UseRealTime();

}  // namespace
