// SPDX-License-Identifier: MIT OR Apache-2.0
//
// The caller's resident set compared with the least that the truth costs: one fstat, one pread.
#include <benchmark/benchmark.h>
#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include "bench.hpp"

static void bare_fstat_pread(benchmark::State& state) {
  const int fd = open("/proc/self/statm", O_RDONLY | O_CLOEXEC);
  char text[256];
  for (auto _ : state) {
    struct stat status;
    benchmark::DoNotOptimize(fstat(fd, &status));
    benchmark::DoNotOptimize(pread(fd, text, sizeof text, 0));
  }
  close(fd);
}
BENCHMARK(bare_fstat_pread);

static void own_resident_set(benchmark::State& state) {
  hmn_context* context = nullptr;
  hmn_error error = {};
  error.struct_size = sizeof error;
  bench::must(hmn_context_create(nullptr, &context, &error), error);
  hmn_process_memory memory = {};
  memory.struct_size = sizeof memory;
  for (auto _ : state) {
    benchmark::DoNotOptimize(hmn_process_memory_read_self(context, 0, &memory, nullptr));
  }
  if (memory.resident_bytes == 0) state.SkipWithError("nothing was read");
  hmn_context_destroy(context);
}
BENCHMARK(own_resident_set);

static void system_memory(benchmark::State& state) {
  hmn_context* context = nullptr;
  hmn_error error = {};
  error.struct_size = sizeof error;
  bench::must(hmn_context_create(nullptr, &context, &error), error);
  hmn_system_memory memory = {};
  memory.struct_size = sizeof memory;
  for (auto _ : state) {
    benchmark::DoNotOptimize(hmn_system_memory_read(context, 0, &memory, nullptr));
  }
  hmn_context_destroy(context);
}
BENCHMARK(system_memory);
