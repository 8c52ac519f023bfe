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
  // Time between two counts, each of which opens a file.
  static constexpr std::uint64_t min_window_ns = 2'900'000'000;

  // Stores the load of each process of this system, averaged over at least the time above.
  void update_loads(ProcessReadings& rows, std::uint64_t time_ns);

 private:
  using ProcessKey = std::pair<std::uint32_t, std::uint64_t>;  // pid, start

  Roots roots_ = read_roots();
  // Latest count of a process, and the rate since the previous one.
  struct CpuCounter {
    CounterRate rate;
    std::optional<double> percent;
    std::uint64_t count_time_ns = 0;
    bool is_counted = false;
  };
  void update_counter(CpuCounter& counter, std::uint32_t pid, std::uint64_t time_ns) const;

  std::map<ProcessKey, CpuCounter> counters_;
};

// Makes readings of GPUs from snapshots, with the values that need several: rates of counters,
// spills.
class GpuReader {
 public:
  explicit GpuReader(const Session& session) : session_(session) {}

  // `device_filter`: the device to read, with its partitions; none: all.
  std::vector<GpuReading> read(const hypomnesis::snapshot& snapshot,
                               std::optional<std::uint32_t> device_filter);

 private:
  // State of a device between snapshots.
  struct DeviceState {
    CounterRate received, sent;
    std::unique_ptr<hypomnesis::spill> spill;
  };

  void add_rates(DeviceState& device, const hypomnesis::snapshot& snapshot,
                 GpuReading& reading) const;
  void add_spill(DeviceState& device, const hypomnesis::snapshot& snapshot,
                 GpuReading& reading) const;

  const Session& session_;
  std::map<std::uint32_t, DeviceState> devices_;  // by index
};

std::optional<double> CounterRate::add(std::optional<std::uint64_t> count, std::uint64_t time_ns) {
  if (count && count_ && time_ns == time_ns_) return rate_;
  rate_.reset();
  const auto suspended_ns = cli::suspended_ns();
  const bool was_suspended = cli::was_suspended(suspended_ns_, suspended_ns);
  // An old answer's age includes a suspend: it seems to be from before the last one.
  if (was_suspended && time_ns < time_ns_) return rate_;
  if (count && count_ && *count >= *count_ && time_ns > time_ns_ && !was_suspended)
    rate_ =
        static_cast<double>(*count - *count_) * ns_per_s / static_cast<double>(time_ns - time_ns_);
  count_ = count;
  time_ns_ = time_ns;
  suspended_ns_ = suspended_ns;
  return rate_;
}

void CpuTimes::update_counter(CpuCounter& counter, std::uint32_t pid, std::uint64_t time_ns) const {
  // Until there is a rate, a shorter time is better than none.
  if (counter.is_counted && counter.percent && time_ns - counter.count_time_ns < min_window_ns)
    return;
  const auto cpu_rate = counter.rate.add(read_process_cpu_ns(roots_, pid), time_ns);
  counter.percent = cpu_rate ? std::optional(*cpu_rate / ns_per_s * 100) : std::nullopt;
  counter.count_time_ns = time_ns;
  counter.is_counted = true;
}

void CpuTimes::update_loads(ProcessReadings& rows, std::uint64_t time_ns) {
  std::map<ProcessKey, CpuCounter> counters;
  for (auto& row : rows) {
    if (has(row.usage.notes, hypomnesis::note::foreign_pid)) continue;
    const ProcessKey key{row.usage.pid, row.identity().start};
    const auto [entry, is_new] = counters.try_emplace(key);
    if (is_new) {
      if (const auto it = counters_.find(key); it != counters_.end()) entry->second = it->second;
      update_counter(entry->second, key.first, time_ns);
    }
    row.cpu_percent = entry->second.percent;
  }
  counters_ = std::move(counters);
}

namespace {

using hypomnesis::part;
using hypomnesis::run_state;
using hypomnesis::spill_state;
using hypomnesis::telemetry;

template <auto value>
bool is_known(const telemetry& values) {
  return (values.*value).has_value();
}

// Values in the lines of the GPUs.
struct LineValue {
  std::uint32_t field;
  bool (*is_known)(const telemetry&);
};
constexpr LineValue line_values[] = {
    {HMN_TELEMETRY_HAS_GPU_BUSY, is_known<&telemetry::gpu_busy_percent>},
    {HMN_TELEMETRY_HAS_TEMPERATURE, is_known<&telemetry::temperature_celsius>},
    {HMN_TELEMETRY_HAS_POWER, is_known<&telemetry::power_watts>},
    {HMN_TELEMETRY_HAS_CORE_CLOCK, is_known<&telemetry::core_clock_mhz>},
    {HMN_TELEMETRY_HAS_MEMORY_CLOCK, is_known<&telemetry::memory_clock_mhz>},
    {HMN_TELEMETRY_HAS_FAN_PERCENT, is_known<&telemetry::fan_percent>},
    {HMN_TELEMETRY_HAS_FAN_RPM, is_known<&telemetry::fan_rpm>},
    {HMN_TELEMETRY_HAS_PCIE_RX, is_known<&telemetry::pcie_rx_bytes>},
    {HMN_TELEMETRY_HAS_PCIE_TX, is_known<&telemetry::pcie_tx_bytes>}};

bool is_unsupported(const hypomnesis::snapshot& snapshot, std::uint32_t device, part subject,
                    std::uint32_t field) {
  const auto reason = snapshot.reason(device, subject, field);
  return reason && reason->status == hypomnesis::status_code::unsupported;
}

void add_unsupported(const hypomnesis::snapshot& snapshot, GpuReading& reading) {
  const auto index = reading.gpu.device.index;
  for (const auto& value : line_values)
    if (!(reading.values && value.is_known(*reading.values)) &&
        is_unsupported(snapshot, index, part::telemetry, value.field))
      reading.unsupported_fields |= value.field;
  reading.is_used_unsupported = !get_used_bytes(reading.gpu) &&
                                is_unsupported(snapshot, index, part::pools, HMN_POOL_HAS_USED);
}

std::string find_reason(const hypomnesis::snapshot& snapshot, std::uint32_t device, part subject,
                        std::uint32_t field) {
  const auto reason = snapshot.reason(device, subject, field);
  return reason ? reason->message : std::string();
}

bool is_selected_device(const hypomnesis::device& device,
                        std::optional<std::uint32_t> device_filter) {
  return !device_filter || device.index == *device_filter || device.parent_index == *device_filter;
}

}  // namespace

bool GpuReading::is_fresh() const {
  const auto state = gpu.device.state;
  return (state == run_state::ready || state == run_state::unknown) &&
         (!values || cli::is_fresh(*values)) && (!gpu.memory || cli::is_fresh(*gpu.memory));
}

void GpuReader::add_rates(DeviceState& device, const hypomnesis::snapshot& snapshot,
                          GpuReading& reading) const {
  if (!reading.values) return;
  const auto end_ns = snapshot.info().monotonic_ns + snapshot.info().duration_ns;
  const auto read_ns = end_ns - std::min(end_ns, reading.values->age_ns);
  reading.received_rate = device.received.add(reading.values->pcie_rx_bytes, read_ns);
  reading.sent_rate = device.sent.add(reading.values->pcie_tx_bytes, read_ns);
  if (reading.received_rate) return;
  reading.missing_rate_reason = reading.values->pcie_rx_bytes
                                    ? "known from the second reading on"
                                    : find_reason(snapshot, reading.gpu.device.index,
                                                  part::telemetry, HMN_TELEMETRY_HAS_PCIE_RX);
}

void GpuReader::add_spill(DeviceState& device, const hypomnesis::snapshot& snapshot,
                          GpuReading& reading) const {
  const bool has_new_processes = has(snapshot.info().collect, part::processes);
  if (!device.spill)
    device.spill =
        std::make_unique<hypomnesis::spill>(hypomnesis::spill::fed({}, reading.gpu.device.index));
  if (has_new_processes) try {
      device.spill->observe(snapshot, "");
    } catch (const hypomnesis::error& error) {
      reading.missing_spill_reason = error.what();
      return;
    }
  const auto info = device.spill->info();
  reading.missing_spill_reason = info.message;
  if (!has(info.state, spill_state::measurable)) return;
  reading.is_spilling = has(info.state, spill_state::now);
  reading.has_spilled = has(info.state, spill_state::ever);
}

std::vector<GpuReading> GpuReader::read(const hypomnesis::snapshot& snapshot,
                                        std::optional<std::uint32_t> device_filter) {
  std::vector<GpuReading> readings;
  for (auto& gpu : list_gpus(session_, snapshot)) {
    if (!is_selected_device(gpu.device, device_filter)) continue;
    auto& reading = readings.emplace_back();
    const auto index = gpu.device.index;
    reading.gpu = std::move(gpu);
    reading.values = snapshot.telemetry(index);
    const auto state = reading.gpu.device.state;
    if (state != run_state::ready && state != run_state::unknown)
      reading.state_reason = explain_state(snapshot, reading.gpu.device, part::telemetry);
    add_unsupported(snapshot, reading);
    add_rates(devices_[index], snapshot, reading);
    add_spill(devices_[index], snapshot, reading);
  }
  std::stable_sort(readings.begin(), readings.end(), [](const auto& a, const auto& b) {
    return make_device_sort_key(a.gpu.device) < make_device_sort_key(b.gpu.device);
  });
  return readings;
}

namespace {

using std::chrono::milliseconds;

// Time that a user directory on this machine needs, so that most first readings have names.
constexpr milliseconds name_timeout(20);

hypomnesis::snapshot_options make_snapshot_options(const ReaderSettings& settings) {
  hypomnesis::snapshot_options options;
  options.collect = part::devices | part::pools | part::telemetry | part::processes | part::system;
  options.deadline = settings.deadline;
  return options;
}

hypomnesis::sampler_options make_sampler_options(const ReaderSettings& settings) {
  hypomnesis::sampler_options options;
  options.interval = settings.interval;
  options.process_interval = std::max(settings.interval, settings.process_interval);
  options.capacity = 2;
  return options;
}

// Queries no driver, unlike explain_no_gpu().
std::string explain_no_device(const hypomnesis::snapshot& snapshot) {
  return explain_search_failure(snapshot).value_or(
      "no GPU was found; `hmn doctor` has the reasons");
}

}  // namespace

struct Reader::WorkerState {
  WorkerState(const Session& open_session, const ReaderSettings& initial_settings,
              std::function<void()> listener);
  void run();
  void publish(std::shared_ptr<const hypomnesis::snapshot> snapshot);
  void add_processes(const hypomnesis::snapshot& snapshot, MachineReading& machine);

  const Session& session;
  const ReaderSettings settings;
  const std::function<void()> on_reading;
  hypomnesis::sampler sampler;
  GpuReader gpus;
  CpuTimes cpu;
  UserNames users;
  std::shared_ptr<const ProcessReadings> processes = std::make_shared<ProcessReadings>();
  MachineReading previous;  // only its fields about processes are used
  std::mutex mutex;         // guards `latest`
  std::condition_variable new_reading;
  std::unique_ptr<const MachineReading> latest;
  std::thread thread;
};

Reader::WorkerState::WorkerState(const Session& open_session,
                                 const ReaderSettings& initial_settings,
                                 std::function<void()> listener)
    : session(open_session),
      settings(initial_settings),
      on_reading(std::move(listener)),
      sampler(session.library().sample(make_sampler_options(settings),
                                       make_snapshot_options(settings))),
      gpus(session),
      users(session.is_simulated()) {
  previous.processes = processes;
}

void Reader::WorkerState::run() {
  for (;;) {
    try {
      auto snapshot = sampler.next(std::chrono::hours(48));
      if (snapshot)
        publish(std::make_shared<const hypomnesis::snapshot>(*std::move(snapshot)));
      else if (sampler.has_ended())
        return;
    } catch (const hypomnesis::error& error) {
      if (error.status() == hypomnesis::status_code::state) return;
    }
  }
}

void Reader::WorkerState::add_processes(const hypomnesis::snapshot& snapshot,
                                        MachineReading& machine) {
  auto rows = std::make_shared<ProcessReadings>();
  GpuMap devices;
  for (const auto& reading : machine.gpus)
    devices[reading.gpu.device.index] = std::make_shared<const Gpu>(reading.gpu);
  auto usages = snapshot.usages();
  constexpr std::uint32_t fields =
      HMN_USAGE_HAS_USED | HMN_USAGE_HAS_BUSY_PERCENT | HMN_USAGE_HAS_KINDS;
  const UnsupportedUsage unsupported(snapshot, usages, fields);
  const auto name_deadline =
      UserNames::Clock::now() + (settings.user ? settings.deadline : name_timeout);
  for (auto& usage : usages) {
    if (settings.device && !devices.contains(usage.device_index)) continue;
    ProcessReading row;
    row.gpu = find_or_add_gpu(devices, usage.device_index);
    row.user = users.find(usage, name_deadline);
    row.unsupported = unsupported.missing_fields(usage);
    row.usage = std::move(usage);
    select_pool(row, &PoolUse::main);
    if (!settings.user || settings.user->matches(row)) rows->push_back(std::move(row));
  }
  if (!session.is_simulated()) cpu.update_loads(*rows, machine.time_ns);
  machine.has_new_processes = true;
  machine.processes_time_ns = machine.time_ns;
  machine.processes = std::move(rows);
  for (const auto& diagnostic : snapshot.diagnostics()) {
    if (!hides_some_processes(diagnostic)) continue;
    machine.is_process_list_partial = true;
    machine.partial_reason = describe(diagnostic);
  }
}

void Reader::WorkerState::publish(std::shared_ptr<const hypomnesis::snapshot> snapshot) {
  auto machine = std::make_unique<MachineReading>();
  const auto info = snapshot->info();
  machine->time_ns = info.monotonic_ns;
  machine->unix_ns = info.unix_time_ns;
  machine->host = snapshot->system();
  machine->gpus = gpus.read(*snapshot, settings.device);
  if (info.device_count == 0) machine->missing_gpu_reason = explain_no_device(*snapshot);
  machine->missing_cpu_reason = session.is_simulated() ? "a simulated process has no processor time"
                                                       : "known from the second reading on";
  if (has(info.collect, part::processes)) {
    add_processes(*snapshot, *machine);
    machine->process_snapshot = snapshot;
    previous.process_snapshot = snapshot;
    previous.processes = machine->processes;
    previous.processes_time_ns = machine->processes_time_ns;
    previous.is_process_list_partial = machine->is_process_list_partial;
    previous.partial_reason = machine->partial_reason;
  } else {
    machine->process_snapshot = previous.process_snapshot;
    machine->processes = previous.processes;
    machine->processes_time_ns = previous.processes_time_ns;
    machine->is_process_list_partial = previous.is_process_list_partial;
    machine->partial_reason = previous.partial_reason;
  }
  machine->lacks_gpus = lacks_devices(*snapshot);
  if (const auto reason = explain_search_failure(*snapshot)) {
    machine->search_failed = machine->is_process_list_partial = true;
    machine->partial_reason = *reason;
  }
  machine->snapshot = std::move(snapshot);
  {
    const std::lock_guard lock(mutex);
    latest = std::move(machine);
  }
  new_reading.notify_all();
  if (on_reading) on_reading();
}

Reader::Reader(const Session& session, const ReaderSettings& settings,
               std::function<void()> on_reading)
    : state_(std::make_unique<WorkerState>(session, settings, std::move(on_reading))) {
  state_->sampler.start();
  state_->thread = start_thread([state = state_.get()] { state->run(); });
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
  state_->new_reading.wait_until(lock, time, [this] { return state_->latest != nullptr; });
  return std::move(state_->latest);
}

}  // namespace hmn::cli::top
