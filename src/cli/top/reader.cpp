// SPDX-License-Identifier: MIT OR Apache-2.0
#include "cli/top/reader.hpp"

#include <algorithm>
#include <condition_variable>
#include <mutex>
#include <thread>
#include <utility>

#include "cli/measure/no_gpu.hpp"
#include "cli/measure/user_names.hpp"
#include "cli/system/waiting.hpp"
#include "cli/text/diagnostics.hpp"
#include "cli/top/cpu_times.hpp"
#include "cli/top/gpu_reader.hpp"

namespace hmn::cli::top {
namespace {

using hypomnesis::part;
using std::chrono::milliseconds;

// What a directory on the same machine needs, so that most first readings have names.
constexpr milliseconds patience_for_names(20);

hypomnesis::snapshot_options wanted_of(const reader_settings& how) {
  hypomnesis::snapshot_options what;
  what.collect = part::devices | part::pools | part::telemetry | part::processes | part::system;
  what.deadline = how.deadline;
  return what;
}

hypomnesis::sampler_options sampling_of(const reader_settings& how) {
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

struct reader::state {
  state(const session& session_in, const reader_settings& settings, std::function<void()> listener);
  void run();
  void keep(std::shared_ptr<const hypomnesis::snapshot> from);
  void add_processes(const hypomnesis::snapshot& from, machine_reading& to);
  bool passes(const process_reading& row) const;

  const session& in;
  const reader_settings how;
  const std::function<void()> on_new;
  hypomnesis::sampler sampler;
  gpu_reader gpus;
  cpu_times cpu;
  user_names users;
  std::shared_ptr<const process_readings> processes = std::make_shared<process_readings>();
  machine_reading previous;  // of it only what is known of processes
  std::mutex mutex;          // guards `latest`
  std::condition_variable is_new;
  std::unique_ptr<const machine_reading> latest;
  std::thread thread;
};

reader::state::state(const session& session_in, const reader_settings& settings,
                     std::function<void()> listener)
    : in(session_in),
      how(settings),
      on_new(std::move(listener)),
      sampler(in.library().sample(sampling_of(how), wanted_of(how))),
      gpus(in),
      users(in.is_simulated()) {
  previous.processes = processes;
}

void reader::state::run() {
  for (;;) {
    try {
      auto taken = sampler.next(std::chrono::hours(48));
      if (taken) keep(std::make_shared<const hypomnesis::snapshot>(*std::move(taken)));
    } catch (const hypomnesis::error& why) {
      if (why.status() == hypomnesis::status_code::state) return;
    }
  }
}

bool reader::state::passes(const process_reading& row) const {
  if (!how.user) return true;
  return row.user == how.user || (row.usage.uid && std::to_string(*row.usage.uid) == *how.user);
}

void reader::state::add_processes(const hypomnesis::snapshot& from, machine_reading& to) {
  auto rows = std::make_shared<process_readings>();
  gpu_map listed;
  for (const auto& each : to.gpus)
    listed[each.of.device.index] = std::make_shared<const gpu>(each.of);
  auto usages = from.usages();
  constexpr std::uint32_t shown =
      HMN_USAGE_HAS_USED | HMN_USAGE_HAS_BUSY_PERCENT | HMN_USAGE_HAS_KINDS;
  const unsupported_usage unsupported(from, usages, shown);
  const auto until = user_names::clock::now() + (how.user ? how.deadline : patience_for_names);
  for (auto& usage : usages) {
    if (how.device && !listed.contains(usage.device_index)) continue;
    process_reading row;
    row.on = device_of(listed, usage.device_index);
    row.user = users.of(usage, until);
    row.unsupported = unsupported.of(usage);
    row.usage = std::move(usage);
    if (passes(row)) rows->push_back(std::move(row));
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

void reader::state::keep(std::shared_ptr<const hypomnesis::snapshot> from) {
  auto made = std::make_unique<machine_reading>();
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

reader::reader(const session& in, const reader_settings& how, std::function<void()> on_new)
    : state_(std::make_unique<state>(in, how, std::move(on_new))) {
  state_->sampler.start();
  state_->thread = start_thread([to = state_.get()] { to->run(); });
}

reader::~reader() {
  state_->sampler.stop();
  state_->thread.join();
}

std::unique_ptr<const machine_reading> reader::take() {
  const std::lock_guard lock(state_->mutex);
  return std::move(state_->latest);
}

std::unique_ptr<const machine_reading> reader::wait_until(
    std::chrono::steady_clock::time_point time) {
  std::unique_lock lock(state_->mutex);
  state_->is_new.wait_until(lock, time, [this] { return state_->latest != nullptr; });
  return std::move(state_->latest);
}

}  // namespace hmn::cli::top
