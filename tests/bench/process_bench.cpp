// SPDX-License-Identifier: MIT OR Apache-2.0
//
// A list of 64 real processes with name, start time, RAM and owner, compared with a bare loop that
// reads each /proc/<pid>/stat and stats its folder.
#include <benchmark/benchmark.h>
#include <fcntl.h>
#include <signal.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include <vector>

#include "bench.hpp"

namespace {

class ChildProcesses {
 public:
  explicit ChildProcesses(int count) {
    for (int i = 0; i < count; ++i) {
      const pid_t child = fork();
      if (child == 0) {
        for (;;) pause();
      }
      pids_.push_back(child);
    }
  }
  ChildProcesses(const ChildProcesses&) = delete;
  ChildProcesses& operator=(const ChildProcesses&) = delete;
  ~ChildProcesses() {
    for (const pid_t pid : pids_) kill(pid, SIGKILL);
    for (const pid_t pid : pids_) waitpid(pid, nullptr, 0);
  }
  [[nodiscard]] const std::vector<pid_t>& pids() const { return pids_; }

 private:
  std::vector<pid_t> pids_;
};

constexpr int count = 64;

}  // namespace

static void bare_file_loop(benchmark::State& state) {
  const ChildProcesses processes(count);
  for (auto _ : state) {
    for (const pid_t pid : processes.pids()) {
      char path[64];
      char text[1024];
      struct stat folder;
      for (const char* file : {"stat", "cmdline", "cgroup"}) {
        std::snprintf(path, sizeof path, "/proc/%d/%s", pid, file);
        const int fd = open(path, O_RDONLY | O_CLOEXEC);
        benchmark::DoNotOptimize(read(fd, text, sizeof text));
        close(fd);
      }
      std::snprintf(path, sizeof path, "/proc/%d", pid);
      benchmark::DoNotOptimize(stat(path, &folder));
    }
  }
}
BENCHMARK(bare_file_loop);

static void process_list(benchmark::State& state) {
  const ChildProcesses processes(count);
  std::string rows;
  for (const pid_t pid : processes.pids()) {
    rows += ", {\"pid\": " + std::to_string(pid) + ", \"used\": 1048576}";
  }
  const bench::Machine machine(HMN_CONTEXT_NO_THREADS, bench::make_gpus(1, rows));
  hmn_snapshot_options options = {};
  options.struct_size = sizeof options;
  options.collect = HMN_COLLECT_PROCESSES;
  hmn_error error = {};
  error.struct_size = sizeof error;
  hmn_snapshot_info info = {};
  info.struct_size = sizeof info;
  for (auto _ : state) {
    hmn_snapshot* snapshot = nullptr;
    bench::require_ok(hmn_snapshot_take(machine.context(), &options, &snapshot, &error), error);
    benchmark::DoNotOptimize(hmn_snapshot_read(snapshot, &info, nullptr));
    hmn_snapshot_destroy(snapshot);
  }
  if (info.usage_count != count + 1) state.SkipWithError("rows are missing");
}
BENCHMARK(process_list);
