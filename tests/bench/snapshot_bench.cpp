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
    bench::must(hmn_snapshot_take(machine.context(), nullptr, &snapshot, &error), error);
    hmn_snapshot_destroy(snapshot);
  }
  hmn_snapshot* last = nullptr;
  bench::must(hmn_snapshot_take(machine.context(), nullptr, &last, &error), error);
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

// The counter is for all threads of one context together: not above that of one.
static void snapshots_together(benchmark::State& state) {
  const bench::Machine machine(HMN_CONTEXT_NO_THREADS);
  double took_us = 0;
  for (auto _ : state) {
    took_us = bench::snapshot_together_us(machine.context(), static_cast<unsigned>(state.range(0)));
  }
  state.counters["each_us"] = took_us;
}
BENCHMARK(snapshots_together)->RangeMultiplier(2)->Range(1, 32)->Iterations(1)->UseRealTime();

static void snapshot_on_worker(benchmark::State& state) {
  take_snapshots(state, 0);
}
BENCHMARK(snapshot_on_worker)->UseRealTime();

static long futex(std::atomic<uint32_t>& word, int operation, uint32_t value) {
  return syscall(SYS_futex, &word, operation, value, nullptr, nullptr, 0);
}

static void await_other_than(std::atomic<uint32_t>& word, uint32_t value) {
  while (word.load(std::memory_order_acquire) == value) futex(word, FUTEX_WAIT_PRIVATE, value);
}

static void set(std::atomic<uint32_t>& word, uint32_t value) {
  word.store(value, std::memory_order_release);
  futex(word, FUTEX_WAKE_PRIVATE, 1);
}

static void bare_futex_round_trip(benchmark::State& state) {
  std::atomic<uint32_t> ask{0};
  std::atomic<uint32_t> answer{0};
  constexpr uint32_t stop = UINT32_MAX;
  std::thread other([&] {
    for (uint32_t seen = 0;;) {
      await_other_than(ask, seen);
      seen = ask.load(std::memory_order_acquire);
      if (seen == stop) return;
      set(answer, seen);
    }
  });
  uint32_t count = 0;
  for (auto _ : state) {
    set(ask, ++count);
    await_other_than(answer, count - 1);
  }
  set(ask, stop);
  other.join();
}
BENCHMARK(bare_futex_round_trip)->UseRealTime();
