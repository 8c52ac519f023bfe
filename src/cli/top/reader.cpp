// SPDX-License-Identifier: MIT OR Apache-2.0
#include "cli/top/reader.hpp"

#include <algorithm>
#include <condition_variable>
#include <map>
#include <mutex>
#include <thread>
#include <utility>

#include "cli/measure/gpu_status.hpp"
#include "cli/measure/processes.hpp"
#include "cli/measure/session.hpp"
#include "cli/measure/snapshot_records.hpp"
#include "cli/system/environment.hpp"
#include "cli/system/process.hpp"
#include "cli/system/suspend.hpp"
#include "cli/system/waiting.hpp"
#include "cli/text/diagnostics.hpp"
#include "cli/units.hpp"

namespace hmn::cli::top {

// Processor load of processes, from their counters.
class CpuTimes {
 public:
  // Time between two counts: each costs a file that is opened.
  static constexpr std::uint64_t least_window_ns = 2'900'000'000;

  // Stores the load of each process of this system, at least over the time above.
  void add_to(ProcessReadings& rows, std::uint64_t at_ns);

 private:
  using Process = std::pair<std::uint32_t, std::uint64_t>;  // pid, start

  Roots roots_ = roots_from_environment();
  // Count of a process, and the rate since the one before.
  struct Kept {
    CounterRate rate;
    std::optional<double> percent;
    std::uint64_t counted_ns = 0;
    bool is_counted = false;
  };
  void count(Kept& of, std::uint32_t pid, std::uint64_t at_ns) const;

  std::map<Process, Kept> all_;
};

// Readings of GPUs from snapshots, with what needs more than one: rates of counters, spills.
class GpuReader {
 public:
  explicit GpuReader(const Session& in) : in_(in) {}

  // `only`: the device to read, with its partitions; none: all.
  std::vector<GpuReading> read(const hypomnesis::snapshot& from, std::optional<std::uint32_t> only);

 private:
  // What is kept of a device.
  struct Kept {
    CounterRate received, sent;
    std::unique_ptr<hypomnesis::spill> spill;
  };

  void add_rates(Kept& of, const hypomnesis::snapshot& from, GpuReading& to) const;
  void add_spill(Kept& of, const hypomnesis::snapshot& from, GpuReading& to) const;

  const Session& in_;
  std::map<std::uint32_t, Kept> all_;  // by device
};

std::optional<double> CounterRate::add(std::optional<std::uint64_t> count, std::uint64_t at_ns) {
  if (count && count_ && at_ns == at_ns_) return rate_;
  rate_.reset();
  const auto suspended_ns = cli::suspended_ns();
  const bool was_suspended = cli::was_suspended(suspended_ns_, suspended_ns);
  // An old answer's age includes a suspend: it seems to be from before the last one.
  if (was_suspended && at_ns < at_ns_) return rate_;
  if (count && count_ && *count >= *count_ && at_ns > at_ns_ && !was_suspended)
    rate_ = static_cast<double>(*count - *count_) * ns_per_s / static_cast<double>(at_ns - at_ns_);
  count_ = count;
  at_ns_ = at_ns;
  suspended_ns_ = suspended_ns;
  return rate_;
}

void CpuTimes::count(Kept& of, std::uint32_t pid, std::uint64_t at_ns) const {
  // Until there is a rate, a shorter time is better than none.
  if (of.is_counted && of.percent && at_ns - of.counted_ns < least_window_ns) return;
  const auto spent = of.rate.add(process_cpu_ns(roots_, pid), at_ns);
  of.percent = spent ? std::optional(*spent / ns_per_s * 100) : std::nullopt;
  of.counted_ns = at_ns;
  of.is_counted = true;
}

void CpuTimes::add_to(ProcessReadings& rows, std::uint64_t at_ns) {
  std::map<Process, Kept> now;
  for (auto& row : rows) {
    if (has(row.usage.notes, hypomnesis::note::foreign_pid)) continue;
    const Process key{row.usage.pid, row.identity().start};
    const auto [entry, is_new] = now.try_emplace(key);
    if (is_new) {
      if (const auto before = all_.find(key); before != all_.end()) entry->second = before->second;
      count(entry->second, key.first, at_ns);
    }
    row.cpu_percent = entry->second.percent;
  }
  all_ = std::move(now);
}

namespace {

using hypomnesis::part;
using hypomnesis::run_state;
using hypomnesis::spill_state;
using hypomnesis::telemetry;

template <auto value>
bool is_known(const telemetry& of) {
  return (of.*value).has_value();
}

// Values in the lines of the GPUs.
struct ShownValue {
  std::uint32_t field;
  bool (*is_known)(const telemetry&);
};
constexpr ShownValue shown_values[] = {
    {HMN_TELEMETRY_HAS_GPU_BUSY, is_known<&telemetry::gpu_busy_percent>},
    {HMN_TELEMETRY_HAS_TEMPERATURE, is_known<&telemetry::temperature_celsius>},
    {HMN_TELEMETRY_HAS_POWER, is_known<&telemetry::power_watts>},
    {HMN_TELEMETRY_HAS_CORE_CLOCK, is_known<&telemetry::core_clock_mhz>},
    {HMN_TELEMETRY_HAS_MEMORY_CLOCK, is_known<&telemetry::memory_clock_mhz>},
    {HMN_TELEMETRY_HAS_FAN_PERCENT, is_known<&telemetry::fan_percent>},
    {HMN_TELEMETRY_HAS_FAN_RPM, is_known<&telemetry::fan_rpm>},
    {HMN_TELEMETRY_HAS_PCIE_RX, is_known<&telemetry::pcie_rx_bytes>},
    {HMN_TELEMETRY_HAS_PCIE_TX, is_known<&telemetry::pcie_tx_bytes>}};

bool is_unsupported(const hypomnesis::snapshot& from, std::uint32_t device, part subject,
                    std::uint32_t field) {
  const auto why = from.reason(device, subject, field);
  return why && why->status == hypomnesis::status_code::unsupported;
}

void add_unsupported(const hypomnesis::snapshot& from, GpuReading& to) {
  const auto index = to.of.device.index;
  for (const auto& each : shown_values)
    if (!(to.values && each.is_known(*to.values)) &&
        is_unsupported(from, index, part::telemetry, each.field))
      to.unsupported |= each.field;
  to.has_no_used =
      !used_bytes_of(to.of) && is_unsupported(from, index, part::pools, HMN_POOL_HAS_USED);
}

std::string reason_of(const hypomnesis::snapshot& from, std::uint32_t device, part subject,
                      std::uint32_t field) {
  const auto found = from.reason(device, subject, field);
  return found ? found->message : std::string();
}

bool belongs(const hypomnesis::device& device, std::optional<std::uint32_t> only) {
  return !only || device.index == *only || device.parent_index == *only;
}

}  // namespace

bool GpuReading::is_fresh() const {
  const auto state = of.device.state;
  return (state == run_state::ready || state == run_state::unknown) &&
         (!values || cli::is_fresh(*values)) && (!of.memory || cli::is_fresh(*of.memory));
}

void GpuReader::add_rates(Kept& of, const hypomnesis::snapshot& from, GpuReading& to) const {
  if (!to.values) return;
  const auto ended = from.info().monotonic_ns + from.info().duration_ns;
  const auto read_at = ended - std::min(ended, to.values->age_ns);
  to.received_rate = of.received.add(to.values->pcie_rx_bytes, read_at);
  to.sent_rate = of.sent.add(to.values->pcie_tx_bytes, read_at);
  if (to.received_rate) return;
  to.why_no_rate = to.values->pcie_rx_bytes ? "known from the second reading on"
                                            : reason_of(from, to.of.device.index, part::telemetry,
                                                        HMN_TELEMETRY_HAS_PCIE_RX);
}

void GpuReader::add_spill(Kept& of, const hypomnesis::snapshot& from, GpuReading& to) const {
  const bool was_read = has(from.info().collect, part::processes);
  if (!of.spill)
    of.spill = std::make_unique<hypomnesis::spill>(hypomnesis::spill::fed({}, to.of.device.index));
  if (was_read) try {
      of.spill->observe(from, "");
    } catch (const hypomnesis::error& why) {
      to.why_no_spill = why.what();
      return;
    }
  const auto seen = of.spill->info();
  to.why_no_spill = seen.message;
  if (!has(seen.state, spill_state::measurable)) return;
  to.is_spilling = has(seen.state, spill_state::now);
  to.has_spilled = has(seen.state, spill_state::ever);
}

std::vector<GpuReading> GpuReader::read(const hypomnesis::snapshot& from,
                                        std::optional<std::uint32_t> only) {
  std::vector<GpuReading> out;
  for (auto& each : gpus_of(in_, from)) {
    if (!belongs(each.device, only)) continue;
    auto& to = out.emplace_back();
    const auto index = each.device.index;
    to.of = std::move(each);
    to.values = from.telemetry(index);
    const auto state = to.of.device.state;
    if (state != run_state::ready && state != run_state::unknown)
      to.why_state = why_state(from, to.of.device, part::telemetry);
    add_unsupported(from, to);
    add_rates(all_[index], from, to);
    add_spill(all_[index], from, to);
  }
  std::stable_sort(out.begin(), out.end(), [](const auto& a, const auto& b) {
    return place_of(a.of.device) < place_of(b.of.device);
  });
  return out;
}

namespace {

using std::chrono::milliseconds;

// What a directory on the same machine needs, so that most first readings have names.
constexpr milliseconds patience_for_names(20);

hypomnesis::snapshot_options wanted_of(const ReaderSettings& how) {
  hypomnesis::snapshot_options what;
  what.collect = part::devices | part::pools | part::telemetry | part::processes | part::system;
  what.deadline = how.deadline;
  return what;
}

hypomnesis::sampler_options sampling_of(const ReaderSettings& how) {
  hypomnesis::sampler_options out;
  out.interval = how.interval;
  out.process_interval = std::max(how.interval, how.process_interval);
  out.capacity = 2;
  return out;
}

// Asks no driver, unlike why_no_gpu().
std::string why_no_device(const hypomnesis::snapshot& from) {
  return why_search_failed(from).value_or("no GPU was found; `hmn doctor` has the reasons");
}

}  // namespace

struct Reader::State {
  State(const Session& session_in, const ReaderSettings& settings, std::function<void()> listener);
  void run();
  void keep(std::shared_ptr<const hypomnesis::snapshot> from);
  void add_processes(const hypomnesis::snapshot& from, MachineReading& to);

  const Session& in;
  const ReaderSettings how;
  const std::function<void()> on_new;
  hypomnesis::sampler sampler;
  GpuReader gpus;
  CpuTimes cpu;
  UserNames users;
  std::shared_ptr<const ProcessReadings> processes = std::make_shared<ProcessReadings>();
  MachineReading previous;  // of it only what is known of processes
  std::mutex mutex;         // guards `latest`
  std::condition_variable is_new;
  std::unique_ptr<const MachineReading> latest;
  std::thread thread;
};

Reader::State::State(const Session& session_in, const ReaderSettings& settings,
                     std::function<void()> listener)
    : in(session_in),
      how(settings),
      on_new(std::move(listener)),
      sampler(in.library().sample(sampling_of(how), wanted_of(how))),
      gpus(in),
      users(in.is_simulated()) {
  previous.processes = processes;
}

void Reader::State::run() {
  for (;;) {
    try {
      auto taken = sampler.next(std::chrono::hours(48));
      if (taken) keep(std::make_shared<const hypomnesis::snapshot>(*std::move(taken)));
    } catch (const hypomnesis::error& why) {
      if (why.status() == hypomnesis::status_code::state) return;
    }
  }
}

void Reader::State::add_processes(const hypomnesis::snapshot& from, MachineReading& to) {
  auto rows = std::make_shared<ProcessReadings>();
  GpuMap listed;
  for (const auto& each : to.gpus)
    listed[each.of.device.index] = std::make_shared<const Gpu>(each.of);
  auto usages = from.usages();
  constexpr std::uint32_t shown =
      HMN_USAGE_HAS_USED | HMN_USAGE_HAS_BUSY_PERCENT | HMN_USAGE_HAS_KINDS;
  const UnsupportedUsage unsupported(from, usages, shown);
  const auto until = UserNames::Clock::now() + (how.user ? how.deadline : patience_for_names);
  for (auto& usage : usages) {
    if (how.device && !listed.contains(usage.device_index)) continue;
    ProcessReading row;
    row.on = device_of(listed, usage.device_index);
    row.user = users.of(usage, until);
    row.unsupported = unsupported.of(usage);
    row.usage = std::move(usage);
    show_pool(row, &PoolUse::main);
    if (!how.user || how.user->matches(row)) rows->push_back(std::move(row));
  }
  if (!in.is_simulated()) cpu.add_to(*rows, to.at_ns);
  to.has_processes = true;
  to.processes_at_ns = to.at_ns;
  to.processes = std::move(rows);
  for (const auto& each : from.diagnostics()) {
    if (!hides_list(each)) continue;
    to.is_partial = true;
    to.why_partial = describe(each);
  }
}

void Reader::State::keep(std::shared_ptr<const hypomnesis::snapshot> from) {
  auto made = std::make_unique<MachineReading>();
  const auto about = from->info();
  made->at_ns = about.monotonic_ns;
  made->unix_ns = about.unix_time_ns;
  made->host = from->system();
  made->gpus = gpus.read(*from, how.device);
  if (about.device_count == 0) made->why_no_gpu = why_no_device(*from);
  made->why_no_cpu = in.is_simulated() ? "a simulated process has no processor time"
                                       : "known from the second reading on";
  if (has(about.collect, part::processes)) {
    add_processes(*from, *made);
    made->processes_from = from;
    previous.processes_from = from;
    previous.processes = made->processes;
    previous.processes_at_ns = made->processes_at_ns;
    previous.is_partial = made->is_partial;
    previous.why_partial = made->why_partial;
  } else {
    made->processes_from = previous.processes_from;
    made->processes = previous.processes;
    made->processes_at_ns = previous.processes_at_ns;
    made->is_partial = previous.is_partial;
    made->why_partial = previous.why_partial;
  }
  made->lacks_gpus = lacks_devices(*from);
  if (const auto why = why_search_failed(*from)) {
    made->search_failed = made->is_partial = true;
    made->why_partial = *why;
  }
  made->from = std::move(from);
  {
    const std::lock_guard lock(mutex);
    latest = std::move(made);
  }
  is_new.notify_all();
  if (on_new) on_new();
}

Reader::Reader(const Session& in, const ReaderSettings& how, std::function<void()> on_new)
    : state_(std::make_unique<State>(in, how, std::move(on_new))) {
  state_->sampler.start();
  state_->thread = start_thread([to = state_.get()] { to->run(); });
}

Reader::~Reader() {
  state_->sampler.stop();
  state_->thread.join();
}

std::unique_ptr<const MachineReading> Reader::take() {
  const std::lock_guard lock(state_->mutex);
  return std::move(state_->latest);
}

std::unique_ptr<const MachineReading> Reader::wait_until(
    std::chrono::steady_clock::time_point time) {
  std::unique_lock lock(state_->mutex);
  state_->is_new.wait_until(lock, time, [this] { return state_->latest != nullptr; });
  return std::move(state_->latest);
}

}  // namespace hmn::cli::top
