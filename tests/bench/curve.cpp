// SPDX-License-Identifier: MIT OR Apache-2.0
//
// hmn_bench_curve KIND COUNT [READINGS]: what one reading of COUNT things takes, in microseconds of
// this thread's processor, the fastest of some; scripts/draw-curves draws it. With READINGS, that
// many are made, for their instructions to be counted.
#include <fcntl.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/sysmacros.h>
#include <time.h>
#include <unistd.h>

#include <algorithm>
#include <cstring>
#include <functional>
#include <memory>
#include <vector>

#include "bench.hpp"
#include "fake_tree.hpp"

namespace {

using bench::sized;

constexpr double enough_us = 300'000;

int max_readings = 50;
bool is_counted = false;

double cpu_time_us() {
  timespec now;
  clock_gettime(CLOCK_THREAD_CPUTIME_ID, &now);
  return static_cast<double>(now.tv_sec) * 1e6 + static_cast<double>(now.tv_nsec) * 1e-3;
}

// Fastest of several readings, after one that fills the caches.
double measure_fastest_us(const std::function<void()>& read) {
  read();
  double best = 1e300;
  double all = 0;
  for (int i = 0; i < max_readings && (is_counted || all < enough_us); ++i) {
    const double start_us = cpu_time_us();
    read();
    const double elapsed_us = cpu_time_us() - start_us;
    best = std::min(best, elapsed_us);
    all += elapsed_us;
  }
  return best;
}

void require(bool condition, const char* message) {
  if (condition) return;
  std::fprintf(stderr, "hmn_bench_curve: %s\n", message);
  std::exit(1);
}

double measure_snapshots_us(const bench::Machine& machine, hmn_flags collect, unsigned devices,
                            unsigned usages) {
  auto options = sized<hmn_snapshot_options>();
  options.collect = collect;
  auto error = sized<hmn_error>();
  auto info = sized<hmn_snapshot_info>();
  const double elapsed_us = measure_fastest_us([&] {
    hmn_snapshot* snapshot = nullptr;
    bench::require_ok(hmn_snapshot_take(machine.context(), &options, &snapshot, &error), error);
    hmn_snapshot_read(snapshot, &info, nullptr);
    hmn_snapshot_destroy(snapshot);
  });
  require(info.device_count == devices && info.usage_count == usages, "values are missing");
  return elapsed_us;
}

double measure_devices_us(unsigned count) {
  return measure_snapshots_us(bench::Machine(HMN_CONTEXT_NO_THREADS, bench::make_gpus(count)), 0,
                              count, 0);
}

// A folder of a fake /proc under many names: this process and count - 1 others.
double measure_gpu_processes_us(unsigned count) {
  constexpr std::uint32_t first_pid = 4'000'001;  // greater than this program's
  const hmn_fake::Tree tree;
  const auto self = static_cast<std::uint32_t>(getpid());
  hmn_fake::add_process(tree, hmn_fake::simple_process(self, "python3", 4242, 25'600));
  hmn_fake::set_self(tree, self);
  hmn_fake::set_pid_namespace(tree, self, 4026531836);
  hmn_fake::set_boot_time(tree, 1'700'000'000);
  std::string other_rows;
  for (std::uint32_t pid = first_pid; pid < first_pid + count - 1; ++pid) {
    const std::string name = tree.proc() + "/" + std::to_string(pid);
    require(symlink(std::to_string(self).c_str(), name.c_str()) == 0, "no link");
    other_rows += R"(, {"pid": )" + std::to_string(pid) + R"(, "used": 4096})";
  }
  const bench::Machine machine(HMN_CONTEXT_NO_THREADS, bench::make_gpus(1, other_rows));
  auto error = sized<hmn_error>();
  bench::require_ok(
      hmn_context_set_path(machine.context(), HMN_PATH_PROC, tree.proc().c_str(), &error), error);
  return measure_snapshots_us(machine, HMN_COLLECT_PROCESSES, 1, count);
}

// Own use of a card without a counter, found in the descriptors of this process.
double measure_own_descriptors_us(unsigned count) {
  const rlimit limit{count + 100, count + 100};
  if (setrlimit(RLIMIT_NOFILE, &limit) != 0) std::exit(77);
  const hmn_fake::Tree tree;
  struct stat node = {};
  require(stat("/dev/full", &node) == 0, "no /dev/full");
  tree.directory("sys/bus/platform/drivers/v3d");
  tree.link("sys/class/drm/renderD128/device/driver", "../../../../bus/platform/drivers/v3d");
  tree.write("sys/class/drm/renderD128/dev", std::to_string(major(node.st_rdev)) + ":" +
                                                 std::to_string(minor(node.st_rdev)) + "\n");
  for (unsigned i = 0; i < count; ++i) require(open("/dev/null", O_RDONLY) >= 0, "no descriptor");
  hmn_context* context = nullptr;
  auto error = sized<hmn_error>();
  auto options = sized<hmn_context_options>();
  options.flags = HMN_CONTEXT_NO_THREADS | HMN_CONTEXT_NO_SUBPROCESS;
  bench::require_ok(hmn_context_create(&options, &context, &error), error);
  bench::require_ok(hmn_context_set_path(context, HMN_PATH_SYS, tree.sys().c_str(), &error), error);
  auto own = sized<hmn_usage>();
  const double elapsed_us =
      measure_fastest_us([&] { hmn_usage_read_self(context, 0, 0, &own, nullptr); });
  hmn_context_destroy(context);
  return elapsed_us;
}

// Reads all of them once, one after the other.
double measure_contexts_us(unsigned count) {
  std::vector<std::unique_ptr<bench::Machine>> machines;
  for (unsigned i = 0; i < count; ++i) {
    machines.push_back(std::make_unique<bench::Machine>(HMN_CONTEXT_NO_THREADS));
  }
  auto pool = sized<hmn_pool>();
  auto error = sized<hmn_error>();
  return measure_fastest_us([&] {
    for (const auto& machine : machines) {
      bench::require_ok(hmn_pool_read(machine->context(), 0, HMN_POOL_MAIN, 0, 0, &pool, &error),
                        error);
    }
  });
}

double measure_threads_us(unsigned count) {
  const bench::Machine machine(HMN_CONTEXT_NO_THREADS);
  double best = 1e300;
  for (int i = 0; i < 5; ++i) {
    best = std::min(best, bench::measure_concurrent_snapshot_us(machine.context(), count));
  }
  return best;
}

// Opening of contexts while others are open.
double measure_first_contexts_us(unsigned count) {
  std::vector<std::unique_ptr<bench::Machine>> machines;
  auto pool = sized<hmn_pool>();
  auto error = sized<hmn_error>();
  const double start_us = cpu_time_us();
  for (unsigned i = 0; i < count; ++i) {
    machines.push_back(std::make_unique<bench::Machine>(HMN_CONTEXT_NO_THREADS));
    bench::require_ok(
        hmn_pool_read(machines.back()->context(), 0, HMN_POOL_MAIN, 0, 0, &pool, &error), error);
  }
  return cpu_time_us() - start_us;
}

constexpr struct {
  const char* name;
  double (*measure)(unsigned count);
} kinds[] = {{"devices", measure_devices_us},
             {"gpu-processes", measure_gpu_processes_us},
             {"own-descriptors", measure_own_descriptors_us},
             {"threads", measure_threads_us},
             {"contexts", measure_contexts_us},
             {"first-contexts", measure_first_contexts_us}};

}  // namespace

int main(int count, char** words) {
  for (const auto& kind : kinds) {
    if (count < 3 || std::strcmp(words[1], kind.name) != 0) continue;
    is_counted = count > 3;
    if (is_counted) max_readings = std::atoi(words[3]);
    std::printf("%.3f\n", kind.measure(static_cast<unsigned>(std::atoi(words[2]))));
    return 0;
  }
  std::fputs("hmn_bench_curve KIND COUNT [READINGS]\n", stderr);
  return 2;
}
