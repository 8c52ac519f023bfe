// SPDX-License-Identifier: MIT OR Apache-2.0
// bench MACHINE...: the cost of a full snapshot, copied whole, on each machine file, per object,
// compared with a bare call. Not a test: the numbers are for docs/performance.md.
#include <algorithm>
#include <chrono>
#include <cstdio>
#include <filesystem>
#include <hypomnesis.hpp>

namespace {

constexpr int rounds = 400, warm_up = 50, bare_calls = 1000000;

double now_ns() {
  const auto since = std::chrono::steady_clock::now().time_since_epoch();
  return std::chrono::duration<double, std::nano>(since).count();
}

struct times {
  double median, fastest;
};

template <class Work>
times measure(Work work) {
  std::vector<double> durations;
  for (int i = 0; i < warm_up + rounds; ++i) {
    const double start = now_ns();
    work();
    if (i >= warm_up) durations.push_back(now_ns() - start);
  }
  std::sort(durations.begin(), durations.end());
  return {durations[rounds / 2], durations[0]};
}

std::size_t count_objects(const hypomnesis::snapshot_values& values) {
  std::size_t count = 3 + values.usages.size() + values.diagnostics.size();
  for (const auto& device : values.devices) count += 3 + device.pools.size();
  return count;
}

double measure_bare_call() {
  const double start = now_ns();
  std::uint64_t sum = 0;
  for (int i = 0; i < bare_calls; ++i) sum += hypomnesis::version_number();
  const double duration = (now_ns() - start) / bare_calls;
  return sum != 0 ? duration : 0;
}

}  // namespace

int main(int argc, char** argv) {
  const auto everything = static_cast<hypomnesis::part>(127);
  std::printf("bare call: %.1f ns\n", measure_bare_call());
  for (int i = 1; i < argc; ++i) {
    hypomnesis::context context;
    context.set_path(hypomnesis::path_kind::simulation,
                     std::filesystem::absolute(argv[i]).string());
    const auto objects = static_cast<double>(count_objects(context.take(everything).values()));
    const times take_times = measure([&] { context.take(everything); });
    const times copy_times = measure([&] { context.take(everything).values(); });
    std::printf(
        "%s: %.0f objects; median (least) us: taken %.1f (%.1f), copied whole %.1f (%.1f); ns per "
        "object %.0f\n",
        argv[i], objects, take_times.median / 1000, take_times.fastest / 1000,
        copy_times.median / 1000, copy_times.fastest / 1000,
        (copy_times.fastest - take_times.fastest) / objects);
  }
}
