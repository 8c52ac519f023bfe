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
constexpr unsigned longest_s = 600;  // of a run that does not come to its end

struct Plan {
  int processes = 10'000;
  int rounds = 5;

  [[nodiscard]] int clients() const { return std::max(1, processes / 50); }
};

Plan parse(int count, char** words) {
  Plan p;
  for (int i = 1; i + 1 < count; i += 2) {
    if (std::strcmp(words[i], "--processes") == 0) p.processes = std::atoi(words[i + 1]);
    if (std::strcmp(words[i], "--rounds") == 0) p.rounds = std::atoi(words[i + 1]);
  }
  return p;
}

void add_card(const hmn_fake::Tree& to) {
  const auto found = platform::status_of(node_file);
  to.directory("sys/bus/platform/drivers/v3d");
  to.link("sys/class/drm/renderD128/device/driver", "../../../../bus/platform/drivers/v3d");
  to.write("sys/class/drm/renderD128/dev", std::to_string(found.value.special_device_major) + ":" +
                                               std::to_string(found.value.special_device_minor) +
                                               "\n");
}

class Walker {
 public:
  explicit Walker(const drm::CardList& cards, std::uint32_t percent = 100)
      : cards_(cards), scanner_("/proc", rescan_ns, percent) {}

  // The next walk, so long after the last one.
  void walk(std::uint64_t later_ns, drm::Extent how) {
    now_ns_ += later_ns;
    seen = scanner_.scan(cards_, false, now_ns_, ~std::uint64_t{0}, found, how);
  }

  drm::ClientList found;
  drm::Coverage seen;

 private:
  const drm::CardList& cards_;
  drm::Scanner scanner_;
  std::uint64_t now_ns_ = platform::ns_per_second;
};

double ms_used(clockid_t by) {
  timespec now;
  clock_gettime(by, &now);
  return static_cast<double>(now.tv_sec) * 1e3 + static_cast<double>(now.tv_nsec) * 1e-6;
}

double ms_of(const std::function<void()>& what) {
  const double begun = ms_used(CLOCK_THREAD_CPUTIME_ID);
  what();
  return ms_used(CLOCK_THREAD_CPUTIME_ID) - begun;
}

// Of several rounds: whatever else the machine does makes the others slower.
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

// What one round measures; false: clients are missing.
bool run_round(const Plan& p, const drm::CardList& cards, RoundTimes& to) {
  long devices = 0;
  to.bare.push_back(ms_of([&] { bare_walk(&devices); }));
  Walker w(cards);
  to.first.push_back(ms_of([&] { w.walk(0, drm::Extent::rolling); }));
  const auto wanted = static_cast<std::size_t>(p.clients());
  if (w.found.all().size() != wanted) return false;
  to.again.push_back(ms_of([&] { w.walk(1, drm::Extent::complete); }));
  if (w.found.all().size() != wanted) return false;
  std::vector<double> all;
  for (int i = 0; i < 40; ++i) {
    all.push_back(ms_of([&] { w.walk(tenth_ns, drm::Extent::rolling); }));
    if (w.found.all().size() != wanted) return false;
    const auto part = static_cast<double>(w.seen.processes - w.seen.remembered) / w.seen.processes;
    to.largest_part = std::max(to.largest_part, part);
  }
  to.rolling.push_back(median(all));
  to.worst.push_back(*std::max_element(all.begin(), all.end()));
  w.walk(rescan_ns / 2, drm::Extent::complete);
  to.slow.push_back(ms_of([&] { w.walk(rescan_ns / 2, drm::Extent::complete); }));
  return true;
}

void print(const char* what, const std::vector<double>& times, double bare) {
  std::printf("| %s | %.1f ms | %.3f |\n", what, fastest(times), fastest(times) / bare);
}

// A card that counts for itself, so that no process has to be asked.
void add_counting_card(const hmn_fake::Tree& to) {
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
  hmn_fake::add_pci_device(to, card);
}

struct Sampling {
  // Percent that devices, memory and telemetry ten times a second take; none where samples are
  // missing.
  std::optional<double> core;
  std::uint64_t taken = 0;
  std::uint64_t late = 0;
};

// Of the machine whose sysfs is there, with the real processes.
Sampling sample(const hmn_fake::Tree& made, bool has_load, unsigned samples) {
  hmn_context* context = nullptr;
  hmn_sampler* sampler = nullptr;
  hmn_sampler_options options = {};
  options.struct_size = sizeof options;
  options.interval_ns = HMN_MILLISECONDS(100);
  hmn_sampler_info info = {};
  info.struct_size = sizeof info;
  Sampling all;
  hmn_context_options without = {};
  without.struct_size = sizeof without;
  // A GPU of this machine does not answer in place of the made one.
  without.backends_off =
      (std::uint64_t{1} << HMN_BACKEND_NVML) | (std::uint64_t{1} << HMN_BACKEND_NVIDIA_SMI);
  if (hmn_context_create(&without, &context, nullptr) == HMN_OK) {
    hmn_context_set_path(context, HMN_PATH_SYS, made.sys().c_str(), nullptr);
    hmn_sampler_create(context, &options, nullptr, &sampler, nullptr);
    hmn_sampler_start(sampler, nullptr);
    // The first sample scans all.
    for (unsigned i = 0; i < longest_s && info.taken_count < 3; ++i) {
      usleep(100'000);
      hmn_sampler_read(sampler, &info, nullptr);
    }
    const Sampling before{0, info.taken_count, info.late_count};
    const double begun = ms_used(CLOCK_PROCESS_CPUTIME_ID);
    const double since = ms_used(CLOCK_MONOTONIC);
    for (unsigned i = 0; i < longest_s && info.taken_count < before.taken + samples; ++i) {
      usleep(100'000);
      hmn_sampler_read(sampler, &info, nullptr);
    }
    all = {100 * (ms_used(CLOCK_PROCESS_CPUTIME_ID) - begun) / (ms_used(CLOCK_MONOTONIC) - since),
           info.taken_count - before.taken, info.late_count - before.late};
    hmn_telemetry load = {};
    load.struct_size = sizeof load;
    const bool is_read = hmn_sampler_latest_telemetry(sampler, 0, &load, nullptr) == HMN_OK &&
                         (load.present & HMN_TELEMETRY_HAS_GPU_BUSY) != 0;
    if (is_read != has_load || all.taken < samples) all.core.reset();
  }
  hmn_sampler_destroy(sampler);
  hmn_context_destroy(context);
  return all;
}

// Its load is its clients', in fdinfo: here none, since the nodes that stand for it have no such
// texts. What is measured is the search for them.
Sampling sample_fdinfo(unsigned samples) {
  const hmn_fake::Tree made;
  add_card(made);
  return sample(made, false, samples);
}

Sampling sample_counting_card(unsigned samples) {
  const hmn_fake::Tree made;
  add_counting_card(made);
  return sample(made, true, samples);
}

void print_sampling(const char* what, std::optional<double> core) {
  if (core) {
    std::printf("| %s | %.2f %% of a core | |\n", what, *core);
  } else {
    std::printf("| %s | not measured: samples are missing | |\n", what);
  }
}

void print_all(const Plan& p, const RoundTimes& m) {
  const double bare = fastest(m.bare);
  std::printf("| walk over %d processes | time | against the bare one |\n|---|---|---|\n",
              p.processes);
  print("bare, in C", m.bare, bare);
  print("first", m.first, bare);
  print("complete, at once again", m.again, bare);
  print("complete, once a second", m.slow, bare);
  print("rolling, ten times a second", m.rolling, bare);
  print("the longest of those", m.worst, bare);
  std::printf("| most processes looked through in one of those | | %.3f |\n", m.largest_part);
  print_sampling("sampler at 10 Hz without processes", sample_counting_card(30).core);
  const Sampling searched = sample_fdinfo(50);
  print_sampling("sampler at 10 Hz, values in fdinfo", searched.core);
  std::printf("| samples of those that were late | %llu of %llu | |\n",
              static_cast<unsigned long long>(searched.late),
              static_cast<unsigned long long>(searched.taken + searched.late));
}

}  // namespace

int main(int count, char** words) {
  const Plan p = parse(count, words);
  alarm(longest_s);
  const hmn_fake::Tree made;
  add_card(made);
  Settings s;
  s.sys_root = made.sys();
  drm::CardList cards(s);
  cards.refresh();
  const bench::Crowd others(p.processes, descriptors, p.clients(), node_file);
  if (others.pids().size() != static_cast<std::size_t>(p.processes)) {
    std::printf("the system gives %zu processes of %d\n", others.pids().size(), p.processes);
    return 1;
  }
  RoundTimes m;
  for (int i = 0; i < p.rounds; ++i) {
    if (run_round(p, cards, m)) continue;
    std::puts("clients are missing");
    return 1;
  }
  print_all(p, m);
}
