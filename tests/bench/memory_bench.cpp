// SPDX-License-Identifier: MIT OR Apache-2.0
//
// The caller's resident set compared with its minimum cost, one fstat and one pread. The
// host's memory compared with a reading of meminfo and of the files with its limits.
#include <benchmark/benchmark.h>
#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <fstream>
#include <string>
#include <vector>

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
  bench::require_ok(hmn_context_create(nullptr, &context, &error), error);
  hmn_process_memory memory = {};
  memory.struct_size = sizeof memory;
  for (auto _ : state) {
    benchmark::DoNotOptimize(hmn_process_memory_read_self(context, 0, &memory, nullptr));
  }
  if (memory.resident_bytes == 0) state.SkipWithError("nothing was read");
  hmn_context_destroy(context);
}
BENCHMARK(own_resident_set);

static void bare_meminfo(benchmark::State& state) {
  char text[16384];
  for (auto _ : state) {
    const int fd = open("/proc/meminfo", O_RDONLY | O_CLOEXEC);
    benchmark::DoNotOptimize(read(fd, text, sizeof text));
    close(fd);
  }
}
BENCHMARK(bare_meminfo);

namespace {

// Limit files of the own memory group and its ancestors, at the common mounts.
std::vector<std::string> limit_files() {
  std::vector<std::string> files;
  std::ifstream groups("/proc/self/cgroup");
  std::string mount;
  std::string below;
  for (std::string line; std::getline(groups, line);) {
    const bool is_v1 = line.find(":memory:/") != std::string::npos;
    if (!is_v1 && (line.rfind("0::/", 0) != 0 || !mount.empty())) continue;
    mount = is_v1 ? "/sys/fs/cgroup/memory" : "/sys/fs/cgroup";
    below = line.substr(line.find(":/") + 1);
    if (is_v1) break;
  }
  const bool is_v1 = mount.ends_with("/memory");
  while (below.ends_with('/')) below.pop_back();
  if (is_v1) files.push_back(mount + below + "/memory.stat");
  for (;;) {
    files.push_back(mount + below + (is_v1 ? "/memory.limit_in_bytes" : "/memory.max"));
    if (below.empty()) return files;
    below.resize(below.rfind('/'));
  }
}

}  // namespace

// One fstat and one pread of each file that is read.
static void bare_system_files(benchmark::State& state) {
  std::vector<std::string> files = limit_files();
  for (const char* path : {"/proc/meminfo", "/proc/pressure/memory", "/proc/self/cgroup"}) {
    files.emplace_back(path);
  }
  std::vector<int> open_files;
  for (const std::string& file : files) {
    const int fd = open(file.c_str(), O_RDONLY | O_CLOEXEC);
    if (fd >= 0) open_files.push_back(fd);
  }
  char text[16384];
  for (auto _ : state) {
    for (const int fd : open_files) {
      struct stat status;
      benchmark::DoNotOptimize(fstat(fd, &status));
      benchmark::DoNotOptimize(pread(fd, text, sizeof text, 0));
    }
  }
  for (const int fd : open_files) close(fd);
}
BENCHMARK(bare_system_files);

static void system_memory(benchmark::State& state) {
  hmn_context* context = nullptr;
  hmn_error error = {};
  error.struct_size = sizeof error;
  bench::require_ok(hmn_context_create(nullptr, &context, &error), error);
  hmn_system_memory memory = {};
  memory.struct_size = sizeof memory;
  for (auto _ : state) {
    benchmark::DoNotOptimize(hmn_system_memory_read(context, 0, &memory, nullptr));
  }
  hmn_context_destroy(context);
}
BENCHMARK(system_memory);
