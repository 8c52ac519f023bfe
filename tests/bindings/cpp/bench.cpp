// SPDX-License-Identifier: MIT OR Apache-2.0
// bench MACHINE...: what a snapshot of everything, copied whole, costs on each machine file, per
// object, compared with a bare call. Not a test: the numbers are for docs/performance.md.
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
  double median, least;
};

template <class Work>
times measure(Work work) {
  std::vector<double> found;
  for (int i = 0; i < warm_up + rounds; ++i) {
    const double start = now_ns();
    work();
    if (i >= warm_up) found.push_back(now_ns() - start);
  }
  std::sort(found.begin(), found.end());
  return {found[rounds / 2], found[0]};
}

std::size_t objects_of(const hypomnesis::snapshot_values& p) {
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
    c.set_path(hypomnesis::path_kind::simulation, std::filesystem::absolute(argv[i]).string());
    const auto objects = static_cast<double>(objects_of(c.take(everything).values()));
    const times taken = measure([&] { c.take(everything); });
    const times copied = measure([&] { c.take(everything).values(); });
    std::printf(
        "%s: %.0f objects; median (least) us: taken %.1f (%.1f), copied whole %.1f (%.1f); ns per "
        "object %.0f\n",
        argv[i], objects, taken.median / 1000, taken.least / 1000, copied.median / 1000,
        copied.least / 1000, (copied.least - taken.least) / objects);
  }
}
