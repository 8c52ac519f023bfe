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

int most_readings = 50;
bool is_counted = false;

double used_us() {
  timespec now;
  clock_gettime(CLOCK_THREAD_CPUTIME_ID, &now);
  return static_cast<double>(now.tv_sec) * 1e6 + static_cast<double>(now.tv_nsec) * 1e-3;
}

// After one that fills what is kept.
double fastest_us(const std::function<void()>& read) {
  read();
  double best = 1e300;
  double all = 0;
  for (int i = 0; i < most_readings && (is_counted || all < enough_us); ++i) {
    const double begun = used_us();
    read();
    const double took = used_us() - begun;
    best = std::min(best, took);
    all += took;
  }
  return best;
}

void require(bool is_true, const char* what) {
  if (is_true) return;
  std::fprintf(stderr, "hmn_bench_curve: %s\n", what);
  std::exit(1);
}

double snapshots_us(const bench::Machine& on, hmn_flags collect, unsigned devices,
                    unsigned usages) {
  auto options = sized<hmn_snapshot_options>();
  options.collect = collect;
  auto error = sized<hmn_error>();
  auto info = sized<hmn_snapshot_info>();
  const double took = fastest_us([&] {
    hmn_snapshot* snapshot = nullptr;
    bench::must(hmn_snapshot_take(on.context(), &options, &snapshot, &error), error);
    hmn_snapshot_read(snapshot, &info, nullptr);
    hmn_snapshot_destroy(snapshot);
  });
  require(info.device_count == devices && info.usage_count == usages, "values are missing");
  return took;
}

double devices_us(unsigned count) {
  return snapshots_us(bench::Machine(HMN_CONTEXT_NO_THREADS, bench::gpus(count)), 0, count, 0);
}

// One folder of a fake /proc by many names: this process and count - 1 others.
double gpu_processes_us(unsigned count) {
  constexpr std::uint32_t first_pid = 4'000'001;  // greater than this program's
  const hmn_fake::Tree made;
  const auto self = static_cast<std::uint32_t>(getpid());
  hmn_fake::add_process(made, hmn_fake::simple_process(self, "python3", 4242, 25'600));
  hmn_fake::set_self(made, self);
  hmn_fake::set_pid_namespace(made, self, 4026531836);
  hmn_fake::set_boot_time(made, 1'700'000'000);
  std::string others;
  for (std::uint32_t pid = first_pid; pid < first_pid + count - 1; ++pid) {
    const std::string name = made.proc() + "/" + std::to_string(pid);
    require(symlink(std::to_string(self).c_str(), name.c_str()) == 0, "no link");
    others += R"(, {"pid": )" + std::to_string(pid) + R"(, "used": 4096})";
  }
  const bench::Machine one(HMN_CONTEXT_NO_THREADS, bench::gpus(1, others));
  auto error = sized<hmn_error>();
  bench::must(hmn_context_set_path(one.context(), HMN_PATH_PROC, made.proc().c_str(), &error),
              error);
  return snapshots_us(one, HMN_COLLECT_PROCESSES, 1, count);
}

// The own use of a card without a counter of its own: it is in what this process has open.
double own_descriptors_us(unsigned count) {
  const rlimit most{count + 100, count + 100};
  if (setrlimit(RLIMIT_NOFILE, &most) != 0) std::exit(77);
  const hmn_fake::Tree made;
  struct stat node = {};
  require(stat("/dev/full", &node) == 0, "no /dev/full");
  made.directory("sys/bus/platform/drivers/v3d");
  made.link("sys/class/drm/renderD128/device/driver", "../../../../bus/platform/drivers/v3d");
  made.write("sys/class/drm/renderD128/dev", std::to_string(major(node.st_rdev)) + ":" +
                                                 std::to_string(minor(node.st_rdev)) + "\n");
  for (unsigned i = 0; i < count; ++i) require(open("/dev/null", O_RDONLY) >= 0, "no descriptor");
  hmn_context* context = nullptr;
  auto error = sized<hmn_error>();
  auto options = sized<hmn_context_options>();
  options.flags = HMN_CONTEXT_NO_THREADS | HMN_CONTEXT_NO_SUBPROCESS;
  bench::must(hmn_context_create(&options, &context, &error), error);
  bench::must(hmn_context_set_path(context, HMN_PATH_SYS, made.sys().c_str(), &error), error);
  auto own = sized<hmn_usage>();
  const double took = fastest_us([&] { hmn_usage_read_self(context, 0, 0, &own, nullptr); });
  hmn_context_destroy(context);
  return took;
}

// All of them read once, one after the other.
double contexts_us(unsigned count) {
  std::vector<std::unique_ptr<bench::Machine>> all;
  for (unsigned i = 0; i < count; ++i) {
    all.push_back(std::make_unique<bench::Machine>(HMN_CONTEXT_NO_THREADS));
  }
  auto pool = sized<hmn_pool>();
  auto error = sized<hmn_error>();
  return fastest_us([&] {
    for (const auto& each : all) {
      bench::must(hmn_pool_read(each->context(), 0, HMN_POOL_MAIN, 0, 0, &pool, &error), error);
    }
  });
}

double threads_us(unsigned count) {
  const bench::Machine on(HMN_CONTEXT_NO_THREADS);
  double best = 1e300;
  for (int i = 0; i < 5; ++i) {
    best = std::min(best, bench::snapshot_together_us(on.context(), count));
  }
  return best;
}

// Those that are opened in addition to others.
double first_contexts_us(unsigned count) {
  std::vector<std::unique_ptr<bench::Machine>> all;
  auto pool = sized<hmn_pool>();
  auto error = sized<hmn_error>();
  const double begun = used_us();
  for (unsigned i = 0; i < count; ++i) {
    all.push_back(std::make_unique<bench::Machine>(HMN_CONTEXT_NO_THREADS));
    bench::must(hmn_pool_read(all.back()->context(), 0, HMN_POOL_MAIN, 0, 0, &pool, &error), error);
  }
  return used_us() - begun;
}

constexpr struct {
  const char* name;
  double (*measure)(unsigned count);
} kinds[] = {{"devices", devices_us},
             {"gpu-processes", gpu_processes_us},
             {"own-descriptors", own_descriptors_us},
             {"threads", threads_us},
             {"contexts", contexts_us},
             {"first-contexts", first_contexts_us}};

}  // namespace

int main(int count, char** words) {
  for (const auto& each : kinds) {
    if (count < 3 || std::strcmp(words[1], each.name) != 0) continue;
    is_counted = count > 3;
    if (is_counted) most_readings = std::atoi(words[3]);
    std::printf("%.3f\n", each.measure(static_cast<unsigned>(std::atoi(words[2]))));
    return 0;
  }
  std::fputs("hmn_bench_curve KIND COUNT [READINGS]\n", stderr);
  return 2;
}
