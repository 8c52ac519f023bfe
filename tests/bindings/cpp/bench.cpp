// SPDX-License-Identifier: MIT OR Apache-2.0
// bench MACHINE...: what a snapshot of everything, copied whole, costs on each machine file, per
// object, beside a bare call. Not a test: the numbers are for docs/performance.md.
#include <algorithm>
#include <chrono>
#include <cstdio>
#include <hypomnesis.hpp>

namespace {

constexpr int rounds = 400, warm_up = 50, bare_calls = 1000000;

double now_ns() {
  const auto since = std::chrono::steady_clock::now().time_since_epoch();
  return std::chrono::duration<double, std::nano>(since).count();
}

template <class Work>
double median_ns(Work work) {
  std::vector<double> times;
  for (int i = 0; i < warm_up + rounds; ++i) {
    const double start = now_ns();
    work();
    if (i >= warm_up) times.push_back(now_ns() - start);
  }
  std::nth_element(times.begin(), times.begin() + rounds / 2, times.end());
  return times[rounds / 2];
}

std::size_t objects_of(const hypomnesis::picture& p) {
  std::size_t count = 3 + p.usages.size() + p.diagnostics.size();
  for (const auto& d : p.devices) count += 3 + d.pools.size();
  return count;
}

double bare_ns() {
  const double start = now_ns();
  std::uint64_t sum = 0;
  for (int i = 0; i < bare_calls; ++i) sum += hypomnesis::version_number();
  const double each = (now_ns() - start) / bare_calls;
  return sum != 0 ? each : 0;
}

}  // namespace

int main(int argc, char** argv) {
  const auto everything = static_cast<hypomnesis::part>(127);
  std::printf("bare call: %.1f ns\n", bare_ns());
  for (int i = 1; i < argc; ++i) {
    hypomnesis::context c;
    c.set_path(hypomnesis::path_kind::simulation, argv[i]);
    const auto objects = static_cast<double>(objects_of(c.take(everything).values()));
    const double take = median_ns([&] { c.take(everything); });
    const double whole = median_ns([&] { c.take(everything).values(); });
    std::printf(
        "%s: %.0f objects, take %.1f us, taken and copied %.1f us, copy per object %.0f ns\n",
        argv[i], objects, take / 1000, whole / 1000, (whole - take) / objects);
  }
}
