// SPDX-License-Identifier: MIT OR Apache-2.0
//
// Own use with 1,000 descriptors: in the host's PID namespace, where the
// driver's lists are enough, and in another, where its descriptors are the only proof. And opening
// NVML with many descriptors, and in many contexts.
#include <benchmark/benchmark.h>
#include <fcntl.h>
#include <sys/resource.h>
#include <unistd.h>

#include <memory>
#include <vector>

#include "bench.hpp"
#include "fake_tree.hpp"

namespace {

constexpr std::uint64_t host_namespace = 4026531836;
constexpr std::uint64_t other_namespace = 4026532513;
constexpr int descriptors = 1000;

class FakeProc {
 public:
  FakeProc(std::uint64_t pid_namespace, bool holds_gpu) {
    auto self = hmn_fake::simple_process(static_cast<std::uint32_t>(getpid()), "bench", 1, 1);
    self.pid_namespace = pid_namespace;
    for (int i = 0; i < descriptors; ++i) self.descriptors[i] = "/dev/null";
    if (holds_gpu) self.descriptors[descriptors - 1] = "/dev/nvidia-uvm";
    hmn_fake::add_process(tree_, self);
    hmn_fake::set_self(tree_, self.pid);
  }
  [[nodiscard]] std::string own_descriptor_folder() const { return tree_.path("proc/self/fd"); }
  void apply_to_context(hmn_context* context) const {
    auto error = bench::sized<hmn_error>();
    bench::require_ok(hmn_context_set_path(context, HMN_PATH_PROC, tree_.proc().c_str(), &error),
                      error);
  }

 private:
  hmn_fake::Tree tree_;
};

// Reads own use on each of `state.range(0)` devices.
void read_own_use(benchmark::State& state, std::uint64_t pid_namespace, bool holds_gpu,
                  hmn_status expected) {
  const auto devices = static_cast<unsigned>(state.range(0));
  const FakeProc proc(pid_namespace, holds_gpu);
  const bench::Machine machine(HMN_CONTEXT_NO_THREADS, bench::make_foreign_gpus(devices));
  proc.apply_to_context(machine.context());
  auto error = bench::sized<hmn_error>();
  auto options = bench::sized<hmn_snapshot_options>();
  options.collect = HMN_COLLECT_SELF;
  auto own = bench::sized<hmn_usage>();
  hmn_status last = HMN_OK;
  for (auto _ : state) {
    hmn_snapshot* snapshot = nullptr;
    bench::require_ok(hmn_snapshot_take(machine.context(), &options, &snapshot, &error), error);
    last = hmn_snapshot_find_self(snapshot, devices - 1, &own, nullptr);
    hmn_snapshot_destroy(snapshot);
  }
  if ((last == HMN_OK) != (expected == HMN_OK)) state.SkipWithError("not the expected use");
}

void own_use_on_host(benchmark::State& state) {
  read_own_use(state, host_namespace, true, HMN_OK);
}
BENCHMARK(own_use_on_host)->Arg(1)->Arg(8);

// A descriptor of a GPU, once found, is only checked.
void own_use_in_container(benchmark::State& state) {
  read_own_use(state, other_namespace, true, HMN_E_NO_SOURCE);
}
BENCHMARK(own_use_in_container)->Arg(1)->Arg(8);

// Without one every reading checks all descriptors, once for all devices.
void own_use_in_container_without_gpu(benchmark::State& state) {
  read_own_use(state, other_namespace, false, HMN_OK);
}
BENCHMARK(own_use_in_container_without_gpu)->Arg(1)->Arg(8);

void bare_descriptor_walk(benchmark::State& state) {
  const FakeProc proc(other_namespace, false);
  const std::string folder = proc.own_descriptor_folder();
  for (auto _ : state) {
    if (bench::read_links(folder) < descriptors) state.SkipWithError("descriptors are missing");
  }
}
BENCHMARK(bare_descriptor_walk);

// Opens additional descriptors; fewer if the limit does not allow them.
class ManyDescriptors {
 public:
  explicit ManyDescriptors(std::size_t count) {
    rlimit limit{};
    getrlimit(RLIMIT_NOFILE, &limit);
    limit.rlim_cur = limit.rlim_max;
    setrlimit(RLIMIT_NOFILE, &limit);
    while (descriptors_.size() < count) {
      const int descriptor = open("/dev/null", O_RDONLY | O_CLOEXEC);
      if (descriptor < 0) break;
      descriptors_.push_back(descriptor);
    }
  }
  ManyDescriptors(const ManyDescriptors&) = delete;
  ManyDescriptors& operator=(const ManyDescriptors&) = delete;
  ~ManyDescriptors() {
    for (const int descriptor : descriptors_) close(descriptor);
  }
  [[nodiscard]] std::size_t count() const { return descriptors_.size(); }

 private:
  std::vector<int> descriptors_;
};

void read_once(hmn_context* context) {
  auto error = bench::sized<hmn_error>();
  auto pool = bench::sized<hmn_pool>();
  bench::require_ok(hmn_pool_read(context, 0, HMN_POOL_MAIN, 0, 0, &pool, &error), error);
}

void opening_nvml(benchmark::State& state) {
  const auto count = static_cast<std::size_t>(state.range(0));
  const ManyDescriptors extra_descriptors(count);
  if (extra_descriptors.count() < count) {
    state.SkipWithError("the process may not have so many descriptors");
    return;
  }
  for (auto _ : state) {
    const bench::Machine machine(HMN_CONTEXT_NO_THREADS);
    read_once(machine.context());
  }
}
BENCHMARK(opening_nvml)->Arg(10)->Arg(10'000)->Unit(benchmark::kMicrosecond);

// Time of one of so many contexts, each of which opens NVML and stays open.
void opening_contexts(benchmark::State& state) {
  const auto count = static_cast<std::size_t>(state.range(0));
  for (auto _ : state) {
    std::vector<std::unique_ptr<bench::Machine>> machines;
    while (machines.size() < count) {
      machines.push_back(std::make_unique<bench::Machine>(HMN_CONTEXT_NO_THREADS));
      read_once(machines.back()->context());
    }
  }
  state.counters["each_us"] = benchmark::Counter(
      static_cast<double>(count) * 1e-6,
      benchmark::Counter::kIsIterationInvariantRate | benchmark::Counter::kInvert);
}
BENCHMARK(opening_contexts)->RangeMultiplier(10)->Range(10, 1000)->Unit(benchmark::kMillisecond);

}  // namespace
