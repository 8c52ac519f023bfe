// SPDX-License-Identifier: MIT OR Apache-2.0
//
// Direct readings of a device over an NVML whose calls are free.
#include <benchmark/benchmark.h>
#include <dlfcn.h>

#include "bench.hpp"

namespace bench {

std::string one_gpu(const std::string& more) {
  return R"({"driver_version": "550.163.01", "devices": [{
    "name": "NVIDIA L40S", "uuid": "GPU-11111111-2222-3333-4444-555555555555",
    "pci": {"address": "00000000:01:00.0"},
    "memory": {"total": 48318382080, "free": 37580963840, "used": 10737418240},
    "memory_v2": {"total": 48318382080, "reserved": 629145600, "free": 37580963840,
                  "used": 10108272640},
    "utilization": {"gpu": 64, "memory": 12}, "temperature": 45, "power_usage_mw": 58980,
    "processes": {"compute": [{"pid": "self", "used": 536870912})" +
         more + R"(], "graphics": []}}]})";
}

machine::machine(hmn_flags flags, const std::string& scenario) {
  void* fake = dlopen(HMN_FAKE_NVML, RTLD_NOW | RTLD_LOCAL);
  const auto load =
      reinterpret_cast<int (*)(const char*)>(fake ? dlsym(fake, "fake_nvml_load") : nullptr);
  if (load == nullptr || load((scenario.empty() ? one_gpu() : scenario).c_str()) != 0) {
    std::fprintf(stderr, "the fake NVML did not take the scenario\n");
    std::abort();
  }
  hmn_context_options options = {};
  options.struct_size = sizeof options;
  options.flags = flags | HMN_CONTEXT_NO_SUBPROCESS;
  hmn_error error = {};
  error.struct_size = sizeof error;
  must(hmn_context_create(&options, &context_, &error), error);
  must(hmn_context_set_path(context_, HMN_PATH_NVML, HMN_FAKE_NVML, &error), error);
}

}  // namespace bench

static void pool_read_inline(benchmark::State& state) {
  const bench::machine machine(HMN_CONTEXT_NO_THREADS);
  hmn_pool pool = {};
  pool.struct_size = sizeof pool;
  for (auto _ : state) {
    benchmark::DoNotOptimize(hmn_pool_read(machine.context(), 0, HMN_POOL_MAIN, 0, &pool, nullptr));
  }
  if (pool.used_bytes == 0) state.SkipWithError("no pool was read");
}
BENCHMARK(pool_read_inline);

static void pool_read_on_worker(benchmark::State& state) {
  const bench::machine machine(0);
  hmn_pool pool = {};
  pool.struct_size = sizeof pool;
  for (auto _ : state) {
    benchmark::DoNotOptimize(hmn_pool_read(machine.context(), 0, HMN_POOL_MAIN, 0, &pool, nullptr));
  }
  if (pool.used_bytes == 0) state.SkipWithError("no pool was read");
}
BENCHMARK(pool_read_on_worker)->UseRealTime();

static void telemetry_read_inline(benchmark::State& state) {
  const bench::machine machine(HMN_CONTEXT_NO_THREADS);
  hmn_telemetry telemetry = {};
  telemetry.struct_size = sizeof telemetry;
  for (auto _ : state) {
    benchmark::DoNotOptimize(hmn_telemetry_read(machine.context(), 0, 0, &telemetry, nullptr));
  }
  if (telemetry.present == 0) state.SkipWithError("no telemetry was read");
}
BENCHMARK(telemetry_read_inline);
