// SPDX-License-Identifier: MIT OR Apache-2.0
//
// Snapshots over an NVML whose calls are free: on the caller's thread, and handed to the worker,
// compared with a bare futex round trip between two threads.
#include <benchmark/benchmark.h>
#include <linux/futex.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <atomic>
#include <thread>

#include "bench.hpp"

static void take_snapshots(benchmark::State& state, hmn_flags flags) {
  const bench::Machine machine(flags);
  hmn_error error = {};
  error.struct_size = sizeof error;
  for (auto _ : state) {
    hmn_snapshot* snapshot = nullptr;
    bench::require_ok(hmn_snapshot_take(machine.context(), nullptr, &snapshot, &error), error);
    hmn_snapshot_destroy(snapshot);
  }
  hmn_snapshot* last = nullptr;
  bench::require_ok(hmn_snapshot_take(machine.context(), nullptr, &last, &error), error);
  hmn_usage self = {};
  self.struct_size = sizeof self;
  if (hmn_snapshot_find_self(last, 0, &self, nullptr) != HMN_OK || self.used_bytes == 0) {
    state.SkipWithError("the snapshot lacks the caller's use");
  }
  hmn_snapshot_destroy(last);
}

static void snapshot_inline(benchmark::State& state) {
  take_snapshots(state, HMN_CONTEXT_NO_THREADS);
}
BENCHMARK(snapshot_inline);

// Time per snapshot of all threads of one context together; should not exceed that of one thread.
static void snapshots_together(benchmark::State& state) {
  const bench::Machine machine(HMN_CONTEXT_NO_THREADS);
  double snapshot_us = 0;
  for (auto _ : state) {
    snapshot_us = bench::measure_concurrent_snapshot_us(machine.context(),
                                                        static_cast<unsigned>(state.range(0)));
  }
  state.counters["each_us"] = snapshot_us;
}
BENCHMARK(snapshots_together)->RangeMultiplier(2)->Range(1, 32)->Iterations(1)->UseRealTime();

static void snapshot_on_worker(benchmark::State& state) {
  take_snapshots(state, 0);
}
BENCHMARK(snapshot_on_worker)->UseRealTime();

static long futex(std::atomic<uint32_t>& word, int operation, uint32_t value) {
  return syscall(SYS_futex, &word, operation, value, nullptr, nullptr, 0);
}

static void wait_for_change(std::atomic<uint32_t>& word, uint32_t value) {
  while (word.load(std::memory_order_acquire) == value) futex(word, FUTEX_WAIT_PRIVATE, value);
}

static void store_value(std::atomic<uint32_t>& word, uint32_t value) {
  word.store(value, std::memory_order_release);
  futex(word, FUTEX_WAKE_PRIVATE, 1);
}

static void bare_futex_round_trip(benchmark::State& state) {
  std::atomic<uint32_t> ask{0};
  std::atomic<uint32_t> answer{0};
  constexpr uint32_t stop = UINT32_MAX;
  std::thread answering_thread([&] {
    for (uint32_t last_request = 0;;) {
      wait_for_change(ask, last_request);
      last_request = ask.load(std::memory_order_acquire);
      if (last_request == stop) return;
      store_value(answer, last_request);
    }
  });
  uint32_t count = 0;
  for (auto _ : state) {
    store_value(ask, ++count);
    wait_for_change(answer, count - 1);
  }
  store_value(ask, stop);
  answering_thread.join();
}
BENCHMARK(bare_futex_round_trip)->UseRealTime();
