// SPDX-License-Identifier: MIT OR Apache-2.0
//
// hmn_bench_counts: does each reading over fixture trees, on this thread, for counts.py to count
// its instructions under callgrind, which is told to write what it counted at each call of
// hmn_bench_counted. Standard output has a line for each of these: what was done, and how often;
// "-" for what made it ready.
#include <unistd.h>

#include <functional>

#include "bench.hpp"
#include "fake_tree.hpp"

extern "C" {
__attribute__((noinline)) void hmn_bench_counted() {
  __asm__ volatile("");
}
}

namespace {

using bench::sized;

constexpr int rounds = 5;
constexpr int readings = 20;
constexpr std::uint32_t first_pid = 4'000'001;  // greater than this program's
constexpr unsigned rows = 64;

std::string done;

void count(const char* what, const std::function<void()>& read, int each = 1) {
  for (int i = 0; i < readings; ++i) read();
  hmn_bench_counted();
  done += "-\n";
  for (int i = 0; i < rounds; ++i) {
    for (int j = 0; j < readings; ++j) read();
    hmn_bench_counted();
    done += std::string(what) + '\t' + std::to_string(readings * each) + '\n';
  }
}

void require(bool is_true, const char* what) {
  if (is_true) return;
  std::fprintf(stderr, "counts: %s\n", what);
  std::abort();
}

void add_process(const hmn_fake::tree& to, std::uint32_t pid) {
  auto one = hmn_fake::simple_process(pid, "python3", 4242, 25'600);
  one.cgroup = "0::/user.slice/user-1000.slice/session-1.scope\n";
  hmn_fake::add_process(to, one);
}

// What every program reads has the same length wherever it runs, but for its own pid.
class world {
 public:
  world() {
    const auto self = static_cast<std::uint32_t>(getpid());
    add_process(tree_, self);
    for (std::uint32_t i = 0; i < rows; ++i) add_process(tree_, first_pid + i);
    hmn_fake::set_self(tree_, self);
    hmn_fake::set_pid_namespace(tree_, self, 4026531836);
    hmn_fake::set_boot_time(tree_, 1'700'000'000);
    hmn_fake::meminfo memory;
    memory.total = 16'384'000;
    memory.free = 4'096'000;
    memory.available = 8'192'000;
    memory.swap_total = 2'048'000;
    memory.swap_free = 1'024'000;
    hmn_fake::set_meminfo(tree_, memory);
    for (const char* group : {"", "/user-1000.slice", "/user-1000.slice/session-1.scope"}) {
      hmn_fake::set_cgroup_v2(tree_, std::string("user.slice") + group,
                              {{"memory.max", "8388608000\n"}, {"memory.current", "4194304000\n"}});
    }
  }

  void enter(hmn_context* context) const {
    auto error = sized<hmn_error>();
    const auto set = [&](std::uint32_t path, const std::string& value) {
      bench::must(hmn_context_set_path(context, path, value.c_str(), &error), error);
    };
    set(HMN_PATH_PROC, tree_.proc());
    set(HMN_PATH_SYS, tree_.sys());
    set(HMN_PATH_CGROUP, tree_.path("sys/fs/cgroup"));
  }

 private:
  hmn_fake::tree tree_;
};

void count_host(const world& all) {
  hmn_context* context = nullptr;
  auto error = sized<hmn_error>();
  bench::must(hmn_context_create(nullptr, &context, &error), error);
  all.enter(context);
  auto own = sized<hmn_process_memory>();
  count("own resident set", [&] { hmn_process_memory_read_self(context, 0, &own, nullptr); });
  require(own.resident_bytes != 0, "no resident set");
  auto system = sized<hmn_system_memory>();
  count("system memory", [&] { hmn_system_memory_read(context, 0, &system, nullptr); });
  require(system.total_bytes == 16'384'000ull << 10, "no system memory");
  hmn_context_destroy(context);
}

void count_device(const world& all) {
  const bench::machine one(HMN_CONTEXT_NO_THREADS);
  all.enter(one.context());
  auto pool = sized<hmn_pool>();
  count("pool", [&] { hmn_pool_read(one.context(), 0, HMN_POOL_MAIN, 0, &pool, nullptr); });
  require(pool.used_bytes != 0, "no pool");
  auto load = sized<hmn_telemetry>();
  count("telemetry", [&] { hmn_telemetry_read(one.context(), 0, 0, &load, nullptr); });
  require(load.present != 0, "no telemetry");
}

void count_snapshot(const world& all, const char* what, hmn_flags collect,
                    const std::string& scenario, std::uint32_t pools, std::uint32_t usages,
                    int each = 1) {
  const bench::machine one(HMN_CONTEXT_NO_THREADS, scenario);
  all.enter(one.context());
  auto options = sized<hmn_snapshot_options>();
  options.collect = collect;
  auto info = sized<hmn_snapshot_info>();
  auto error = sized<hmn_error>();
  const auto take = [&] {
    hmn_snapshot* snapshot = nullptr;
    bench::must(hmn_snapshot_take(one.context(), &options, &snapshot, &error), error);
    hmn_snapshot_read(snapshot, &info);
    hmn_snapshot_destroy(snapshot);
  };
  count(what, take, each);
  require(info.pool_count == pools && info.usage_count == usages, what);
}

void count_snapshots(const world& all) {
  count_snapshot(all, "snapshot", 0, bench::gpus(1), 1, 0);
  count_snapshot(all, "snapshot, each of 8 devices", 0, bench::gpus(8), 8, 0, 8);
  count_snapshot(all, "snapshot, each of 256 devices", 0, bench::gpus(256), 256, 0, 256);
  std::string others;
  for (std::uint32_t i = 0; i < rows; ++i) {
    others += R"(, {"pid": )" + std::to_string(first_pid + i) + R"(, "used": 1048576})";
  }
  count_snapshot(all, "process list, each of 64 rows", HMN_COLLECT_PROCESSES,
                 bench::gpus(1, others), 0, 1 + rows, rows);
}

// One snapshot is taken, on the sampler's thread; what is counted is on this one.
void count_latest(const world& all) {
  const bench::machine one(0);
  all.enter(one.context());
  auto error = sized<hmn_error>();
  auto options = sized<hmn_sampler_options>();
  options.interval_ms = 3'600'000;
  hmn_sampler* sampler = nullptr;
  bench::must(hmn_sampler_create(one.context(), &options, nullptr, &sampler, &error), error);
  bench::must(hmn_sampler_start(sampler, &error), error);
  hmn_snapshot* first = nullptr;
  bench::must(hmn_sampler_next(sampler, HMN_MS_UNLIMITED, &first, &error), error);
  hmn_snapshot_destroy(first);
  auto pool = sized<hmn_pool>();
  count("latest pool", [&] { hmn_sampler_latest_pool(sampler, 0, &pool, nullptr); });
  require(pool.used_bytes != 0, "no latest pool");
  auto load = sized<hmn_telemetry>();
  count("latest telemetry", [&] { hmn_sampler_latest_telemetry(sampler, 0, &load, nullptr); });
  require(load.present != 0, "no latest telemetry");
  hmn_sampler_destroy(sampler);
}

void count_tracker() {
  auto error = sized<hmn_error>();
  auto options = sized<hmn_tracker_options>();
  options.limit_bytes = std::uint64_t{1} << 40;
  hmn_tracker* tracker = nullptr;
  std::uint32_t tag = 0;
  bench::must(hmn_tracker_create(nullptr, 0, &options, &tracker, &error), error);
  bench::must(hmn_tracker_tag(tracker, "weights", &tag, &error), error);
  count("tracker, a pair", [&] {
    hmn_tracker_allocate(tracker, 4096, nullptr);
    hmn_tracker_release(tracker, 4096, nullptr);
  });
  count("tracker, a pair under a tag", [&] {
    hmn_tracker_allocate_tagged(tracker, tag, 4096, nullptr);
    hmn_tracker_release_tagged(tracker, tag, 4096, nullptr);
  });
  hmn_tracker_destroy(tracker);
}

}  // namespace

int main() {
  const world all;
  count_host(all);
  count_device(all);
  count_snapshots(all);
  count_latest(all);
  count_tracker();
  std::fputs(done.c_str(), stdout);
}
