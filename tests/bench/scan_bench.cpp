// SPDX-License-Identifier: MIT OR Apache-2.0
//
// hmn_scan_bench [--processes N] [--rounds N]: the walk for clients of GPUs over
// real processes, compared with a bare walk in C that stats each of their descriptors. Of 10,000
// processes with 10 descriptors each, 200 hold one of a card; /dev/full stands for its node, since
// making one takes root. Times are of this thread's processor, which other work does not change.
#include <hypomnesis.h>
#include <time.h>
#include <unistd.h>

#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "backends/drm/scanner.hpp"
#include "bare_walk.h"
#include "crowd.hpp"
#include "fake_tree.hpp"
#include "platform/clock.hpp"
#include "platform/file.hpp"

using namespace hmn;

namespace {

constexpr const char* node_file = "/dev/full";
constexpr std::uint64_t rescan_ns = 2 * platform::ns_per_second;
constexpr std::uint64_t tenth_ns = platform::ns_per_second / 10;
constexpr int descriptors = 10;
constexpr unsigned max_seconds = 600;  // limit for a run that hangs

struct Plan {
  int processes = 10'000;
  int rounds = 5;

  [[nodiscard]] int clients() const { return std::max(1, processes / 50); }
};

Plan parse(int count, char** words) {
  Plan plan;
  for (int i = 1; i + 1 < count; i += 2) {
    if (std::strcmp(words[i], "--processes") == 0) plan.processes = std::atoi(words[i + 1]);
    if (std::strcmp(words[i], "--rounds") == 0) plan.rounds = std::atoi(words[i + 1]);
  }
  return plan;
}

void add_card(const hmn_fake::Tree& tree) {
  const auto status = platform::read_status(node_file);
  tree.directory("sys/bus/platform/drivers/v3d");
  tree.link("sys/class/drm/renderD128/device/driver", "../../../../bus/platform/drivers/v3d");
  tree.write("sys/class/drm/renderD128/dev",
             std::to_string(status.value.special_device_major) + ":" +
                 std::to_string(status.value.special_device_minor) + "\n");
}

class Walker {
 public:
  explicit Walker(const drm::CardList& cards, std::uint32_t percent = 100)
      : cards_(cards), scanner_("/proc", rescan_ns, percent) {}

  // The next walk, so long after the last one.
  void walk(std::uint64_t later_ns, drm::ScanScope extent) {
    now_ns_ += later_ns;
    coverage = scanner_.scan(cards_, false, now_ns_, ~std::uint64_t{0}, clients, extent);
  }

  drm::ClientList clients;
  drm::Coverage coverage;

 private:
  const drm::CardList& cards_;
  drm::Scanner scanner_;
  std::uint64_t now_ns_ = platform::ns_per_second;
};

double read_clock_ms(clockid_t clock) {
  timespec now;
  clock_gettime(clock, &now);
  return static_cast<double>(now.tv_sec) * 1e3 + static_cast<double>(now.tv_nsec) * 1e-6;
}

double measure_ms(const std::function<void()>& action) {
  const double start_ms = read_clock_ms(CLOCK_THREAD_CPUTIME_ID);
  action();
  return read_clock_ms(CLOCK_THREAD_CPUTIME_ID) - start_ms;
}

// Fastest of several rounds: other work of the machine only slows rounds down.
double fastest(const std::vector<double>& all) {
  return *std::min_element(all.begin(), all.end());
}

double median(std::vector<double> all) {
  std::sort(all.begin(), all.end());
  return all[all.size() / 2];
}

struct RoundTimes {
  std::vector<double> bare, first, again, slow, rolling, worst;
  double largest_part = 0;  // of the processes, looked through in one rolling walk
};

// Measures one round; false: clients are missing.
bool run_round(const Plan& plan, const drm::CardList& cards, RoundTimes& times) {
  long devices = 0;
  times.bare.push_back(measure_ms([&] { bare_walk(&devices); }));
  Walker walker(cards);
  times.first.push_back(measure_ms([&] { walker.walk(0, drm::ScanScope::rolling); }));
  const auto expected = static_cast<std::size_t>(plan.clients());
  if (walker.clients.all().size() != expected) return false;
  times.again.push_back(measure_ms([&] { walker.walk(1, drm::ScanScope::complete); }));
  if (walker.clients.all().size() != expected) return false;
  std::vector<double> rolling_times;
  for (int i = 0; i < 40; ++i) {
    rolling_times.push_back(measure_ms([&] { walker.walk(tenth_ns, drm::ScanScope::rolling); }));
    if (walker.clients.all().size() != expected) return false;
    const auto part = static_cast<double>(walker.coverage.processes - walker.coverage.remembered) /
                      walker.coverage.processes;
    times.largest_part = std::max(times.largest_part, part);
  }
  times.rolling.push_back(median(rolling_times));
  times.worst.push_back(*std::max_element(rolling_times.begin(), rolling_times.end()));
  walker.walk(rescan_ns / 2, drm::ScanScope::complete);
  times.slow.push_back(measure_ms([&] { walker.walk(rescan_ns / 2, drm::ScanScope::complete); }));
  return true;
}

void print(const char* name, const std::vector<double>& times, double bare) {
  std::printf("| %s | %.1f ms | %.3f |\n", name, fastest(times), fastest(times) / bare);
}

// A card with counters of its own, so that no process has to be read.
void add_counting_card(const hmn_fake::Tree& tree) {
  hmn_fake::PciDevice card;
  card.address = "0000:03:00.0";
  card.vendor = 0x1002;
  card.device = 0x73bf;
  card.driver = "amdgpu";
  card.drm_nodes = {"card0", "renderD129"};
  card.power_control = "on";
  card.runtime_status = "active";
  card.files = {{"gpu_busy_percent", "7\n"},         {"mem_busy_percent", "3\n"},
                {"mem_info_vram_total", "4096\n"},   {"mem_info_vram_used", "1024\n"},
                {"hwmon/hwmon0/name", "amdgpu\n"},   {"hwmon/hwmon0/temp1_label", "edge\n"},
                {"hwmon/hwmon0/temp1_input", "4\n"}, {"hwmon/hwmon0/power1_average", "9\n"}};
  hmn_fake::add_pci_device(tree, card);
}

struct Sampling {
  // Percent that devices, memory and telemetry ten times a second take; none where samples are
  // missing.
  std::optional<double> core;
  std::uint64_t sample_count = 0;
  std::uint64_t late = 0;
};

// Samples the machine with that sysfs and the real processes.
Sampling sample(const hmn_fake::Tree& tree, bool has_load, unsigned samples) {
  hmn_context* context = nullptr;
  hmn_sampler* sampler = nullptr;
  hmn_sampler_options options = {};
  options.struct_size = sizeof options;
  options.interval_ns = HMN_MILLISECONDS(100);
  hmn_sampler_info info = {};
  info.struct_size = sizeof info;
  Sampling sampling_result;
  hmn_context_options context_options = {};
  context_options.struct_size = sizeof context_options;
  // Keeps GPUs of this machine from answering instead of the fake one.
  context_options.backends_off =
      (std::uint64_t{1} << HMN_BACKEND_NVML) | (std::uint64_t{1} << HMN_BACKEND_NVIDIA_SMI);
  if (hmn_context_create(&context_options, &context, nullptr) == HMN_OK) {
    hmn_context_set_path(context, HMN_PATH_SYS, tree.sys().c_str(), nullptr);
    hmn_sampler_create(context, &options, nullptr, &sampler, nullptr);
    hmn_sampler_start(sampler, nullptr);
    // The first sample scans all.
    for (unsigned i = 0; i < max_seconds && info.taken_count < 3; ++i) {
      usleep(100'000);
      hmn_sampler_read(sampler, &info, nullptr);
    }
    const Sampling before{0, info.taken_count, info.late_count};
    const double start_ms = read_clock_ms(CLOCK_PROCESS_CPUTIME_ID);
    const double wall_start_ms = read_clock_ms(CLOCK_MONOTONIC);
    for (unsigned i = 0; i < max_seconds && info.taken_count < before.sample_count + samples; ++i) {
      usleep(100'000);
      hmn_sampler_read(sampler, &info, nullptr);
    }
    sampling_result = {100 * (read_clock_ms(CLOCK_PROCESS_CPUTIME_ID) - start_ms) /
                           (read_clock_ms(CLOCK_MONOTONIC) - wall_start_ms),
                       info.taken_count - before.sample_count, info.late_count - before.late};
    hmn_telemetry load = {};
    load.struct_size = sizeof load;
    const bool is_read = hmn_sampler_latest_telemetry(sampler, 0, &load, nullptr) == HMN_OK &&
                         (load.present & HMN_TELEMETRY_HAS_GPU_BUSY) != 0;
    if (is_read != has_load || sampling_result.sample_count < samples) sampling_result.core.reset();
  }
  hmn_sampler_destroy(sampler);
  hmn_context_destroy(context);
  return sampling_result;
}

// Its load is that of its clients in fdinfo: none here, since the files used as nodes have no such
// texts. What is measured is the search for them.
Sampling sample_fdinfo(unsigned samples) {
  const hmn_fake::Tree tree;
  add_card(tree);
  return sample(tree, false, samples);
}

Sampling sample_counting_card(unsigned samples) {
  const hmn_fake::Tree tree;
  add_counting_card(tree);
  return sample(tree, true, samples);
}

void print_sampling(const char* name, std::optional<double> core) {
  if (core) {
    std::printf("| %s | %.2f %% of a core | |\n", name, *core);
  } else {
    std::printf("| %s | not measured: samples are missing | |\n", name);
  }
}

void print_all(const Plan& plan, const RoundTimes& times) {
  const double bare = fastest(times.bare);
  std::printf("| walk over %d processes | time | against the bare one |\n|---|---|---|\n",
              plan.processes);
  print("bare, in C", times.bare, bare);
  print("first", times.first, bare);
  print("complete, at once again", times.again, bare);
  print("complete, once a second", times.slow, bare);
  print("rolling, ten times a second", times.rolling, bare);
  print("the longest of those", times.worst, bare);
  std::printf("| most processes looked through in one of those | | %.3f |\n", times.largest_part);
  print_sampling("sampler at 10 Hz without processes", sample_counting_card(30).core);
  const Sampling fdinfo_sampling = sample_fdinfo(50);
  print_sampling("sampler at 10 Hz, values in fdinfo", fdinfo_sampling.core);
  std::printf("| samples of those that were late | %llu of %llu | |\n",
              static_cast<unsigned long long>(fdinfo_sampling.late),
              static_cast<unsigned long long>(fdinfo_sampling.sample_count + fdinfo_sampling.late));
}

}  // namespace

int main(int count, char** words) {
  const Plan plan = parse(count, words);
  alarm(max_seconds);
  const hmn_fake::Tree tree;
  add_card(tree);
  Settings settings;
  settings.sys_root = tree.sys();
  drm::CardList cards(settings);
  cards.refresh();
  const bench::Crowd crowd(plan.processes, descriptors, plan.clients(), node_file);
  if (crowd.pids().size() != static_cast<std::size_t>(plan.processes)) {
    std::printf("the system gives %zu processes of %d\n", crowd.pids().size(), plan.processes);
    return 1;
  }
  RoundTimes times;
  for (int i = 0; i < plan.rounds; ++i) {
    if (run_round(plan, cards, times)) continue;
    std::puts("clients are missing");
    return 1;
  }
  print_all(plan, times);
}
