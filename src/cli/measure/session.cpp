// SPDX-License-Identifier: MIT OR Apache-2.0
#include "cli/measure/session.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <limits>
#include <thread>

#include "cli/measure/snapshot_records.hpp"
#include "cli/system/environment.hpp"
#include "cli/system/file.hpp"
#include "cli/system/inspect.hpp"
#include "cli/system/installation.hpp"
#include "cli/system/process.hpp"
#include "cli/system/waiting.hpp"
#include "cli/text/diagnostics.hpp"
#include "cli/text/output.hpp"
#include "cli/units.hpp"

namespace hmn::cli {
namespace {

using std::chrono::milliseconds;

constexpr std::uint32_t all_device_classes =
    1U << HMN_DEVICE_CLASS_UNKNOWN | 1U << HMN_DEVICE_CLASS_GPU | 1U << HMN_DEVICE_CLASS_NPU;

constexpr milliseconds default_reading_timeout(2000);
constexpr milliseconds default_listing_time(1000);

// Part of the timeout in which the first list waits for an opening, by itself: the library's two
// time limits, of openings and of a reading, add up.
milliseconds compute_opening_timeout(milliseconds timeout) {
  return std::clamp(timeout / 10, milliseconds(1), milliseconds(500));
}

hypomnesis::context_options make_context_options(const SessionSettings& settings) {
  using hypomnesis::context_flag;
  hypomnesis::context_options options;
  options.flags = context_flag::environment;
  if (settings.trace) options.flags |= context_flag::trace;
  if (settings.record) options.flags |= context_flag::record;
  options.deadline = milliseconds(settings.deadline_ms);
  const milliseconds timeout(settings.timeout_ms);
  options.open_deadline = settings.lists_devices ? compute_opening_timeout(timeout) : timeout;
  if (!settings.gpus_only) options.device_classes = all_device_classes;
  return options;
}

constexpr const char* simulation_variable = "HMN_SIMULATION";

// Returns none for an empty variable, which the library ignores.
std::optional<std::string> find_simulation_file() {
  auto file = get_environment(simulation_variable);
  if (file && file->empty()) file.reset();
  return file;
}

// Simulated machine, and where its name comes from.
struct MachineChoice {
  std::string_view source;
  std::string name;
};

// Returns none for this machine itself.
std::optional<MachineChoice> choose_machine(const SessionSettings& settings) {
  if (!settings.machine.empty()) return MachineChoice{"--machine", settings.machine};
  if (auto file = find_simulation_file())
    return MachineChoice{simulation_variable, *std::move(file)};
  return std::nullopt;
}

Failure refuse_machine(const MachineChoice& machine, std::string_view reason) {
  return make_failure(fmt::format("{} \"{}\": {}", machine.source, machine.name, reason));
}

bool is_name(const std::string& machine) {
  return machine.find_first_of(path_separators) == std::string::npos;
}

// Returns the path of a machine that was given by its file or, if there is no such file, by the
// name of an installed one.
Expected<std::string> find_machine(const MachineChoice& machine) {
  const auto reason = explain_unreadable(machine.name);
  if (!reason) return absolute_path(machine.name);
  if (!is_name(machine.name) || path_exists(machine.name)) return refuse_machine(machine, *reason);
  if (auto installed = find_machine_file(machine.name)) return *std::move(installed);
  const auto names = list_machines();
  return refuse_machine(
      machine, names.empty()
                   ? fmt::format("{}, and no example machines are installed with this hmn", *reason)
                   : fmt::format("{}, and no machine of this name: there are {}", *reason,
                                 fmt::join(names, ", ")));
}

// Returns why a machine file is malformed. A reading of a process that it does not describe is not
// counted.
std::optional<std::string> explain_malformed_machine(const hypomnesis::context& context) {
  constexpr auto no_process = std::numeric_limits<std::uint32_t>::max();
  try {
    context.process_memory(no_process, hypomnesis::process_memory_field::resident);
  } catch (const hypomnesis::error& error) {
    if (error.status() == hypomnesis::status_code::argument) return error.what();
  }
  return std::nullopt;
}

}  // namespace

Session::Session(const SessionSettings& settings)
    : library_(make_context_options(settings)),
      timeout_(settings.timeout_ms),
      deadline_(Clock::now() + timeout_),
      search_(settings.search_ms),
      has_timeout_(settings.has_timeout),
      is_traced_(settings.trace),
      is_simulated_(choose_machine(settings).has_value()) {}

Expected<Session> Session::open(const SessionSettings& settings) {
  // An absent driver is no failure of the library; an unusable file named by the user is one.
  const auto machine = choose_machine(settings);
  std::string path;
  if (machine) {
    auto file = find_machine(*machine);
    if (!file) return file.error();
    path = *std::move(file);
    // The library, and a command that hmn runs, take an absolute path alone.
    if (machine->source == simulation_variable) set_environment(simulation_variable, path);
  }
  Session session(settings);
  if (machine) {
    try {
      session.library_.set_path(hypomnesis::path_kind::simulation, path);
    } catch (const hypomnesis::error& error) {
      return refuse_machine(*machine, error.what());
    }
    session.machine_ = path;
  }
  if (!session.is_simulated_)
    notice_advice = explain_slow_drivers();
  else if (const auto reason = explain_malformed_machine(session.library_))
    return make_failure(*reason);
  return session;
}

std::optional<procfs::Workload> Session::workload(const hypomnesis::usage& row) const {
  if (has(row.notes, hypomnesis::note::foreign_pid)) return std::nullopt;
  if (!is_simulated_) return read_process_workload(row.pid);
  if (!workloads_) workloads_.emplace(machine_);
  return workloads_->find(row.pid);
}

// Reports an end of the search by itself: a driver may only be slow to start.
void Session::report_search_timeout(const hypomnesis::snapshot& snapshot) const {
  if (is_over() || snapshot.info().device_count != 0) return;
  write_notice(fmt::format("no GPU was listed within {} s; --timeout waits longer",
                           search_ / std::chrono::seconds(1)));
}

milliseconds Session::time_left() const {
  const auto left = std::chrono::ceil<milliseconds>(deadline_ - Clock::now());
  return std::max(left, milliseconds(1));
}

milliseconds Session::reading_timeout() const {
  if (has_timeout_) return time_left();
  return std::min(time_left(), std::max(default_reading_timeout, 2 * listing_time_));
}

// Asks again for what is late: the library does not wait for a call that it has given up. Without
// --timeout a driver that does not answer holds up no device of another one.
hypomnesis::snapshot Session::list_until_complete(hypomnesis::snapshot_options options) const {
  constexpr milliseconds pause(100);
  const auto time_limit = std::min(time_left(), search_);
  const auto deadline = Clock::now() + time_limit;
  options.deadline =
      time_limit - std::min(compute_opening_timeout(time_limit), time_limit - milliseconds(1));
  if (!has_timeout_)
    options.deadline = std::min<std::chrono::nanoseconds>(options.deadline, default_listing_time);
  for (;;) {
    auto snapshot = library_.take(options);
    if (!is_late(snapshot)) return snapshot;
    if (Clock::now() >= deadline) {
      report_search_timeout(snapshot);
      return snapshot;
    }
    if (!has_timeout_ && snapshot.info().device_count != 0) return snapshot;
    std::this_thread::sleep_until(std::min(Clock::now() + pause, deadline));
    options.deadline =
        std::max(std::chrono::ceil<milliseconds>(deadline - Clock::now()), milliseconds(1));
  }
}

hypomnesis::snapshot Session::list_devices(hypomnesis::part parts) const {
  const auto start = Clock::now();
  hypomnesis::snapshot_options options;
  options.collect = parts | hypomnesis::part::devices;
  auto snapshot = list_until_complete(options);
  device_list_ = DeviceList{snapshot.devices(), explain_search_failure(snapshot)};
  if (!device_list_->failure_reason)
    listing_time_ = std::chrono::duration_cast<milliseconds>(Clock::now() - start);
  return snapshot;
}

const DeviceList& Session::device_list() const {
  if (!device_list_) list_devices({});
  return *device_list_;
}

hypomnesis::snapshot Session::take(hypomnesis::snapshot_options options,
                                   milliseconds elapsed) const {
  constexpr milliseconds min_time(200);
  const auto timeout = reading_timeout();
  options.deadline = std::min(timeout, std::max(timeout - elapsed, min_time));
  return library_.take(options);
}

hypomnesis::snapshot Session::take_briefly(hypomnesis::snapshot_options options) const {
  constexpr milliseconds min_time(250);
  options.deadline = std::min(reading_timeout(), std::max(min_time, 2 * listing_time_));
  return library_.take(options);
}

hypomnesis::snapshot Session::collect(const hypomnesis::snapshot_options& options) const {
  using hypomnesis::part;
  const WaitingNotice notice;
  constexpr part host_parts = part::memory | part::system;
  if (!device_list_) {
    const bool may_suffice = options.collect != everything;
    auto first = list_devices(may_suffice ? options.collect & host_parts : part{});
    if (is_traced_) print_trace(first);
    if (device_list_->devices.empty() && may_suffice) return first;
    if ((options.collect & ~(host_parts | part::devices)) == part{}) return first;
  }
  auto full = device_list_->failure_reason ? take_briefly(options) : take(options);
  if (is_traced_) print_trace(full);
  return full;
}

std::optional<hypomnesis::backend_info> Session::backend(hypomnesis::backend_id id) const {
  return attempt([&] { return library_.backend(id); });
}

std::optional<bool> Session::has_ended(std::uint32_t pid) const {
  using hypomnesis::status_code;
  try {
    library_.process_memory(pid, hypomnesis::process_memory_field::resident);
  } catch (const hypomnesis::error& error) {
    if (error.status() == status_code::no_source) return std::nullopt;
    return error.status() == status_code::no_process;
  }
  return false;
}

std::optional<hypomnesis::backend_info> Session::simulation() const {
  using hypomnesis::run_state;
  auto info = backend(hypomnesis::backend_id::simulated);
  if (info && (info->state == run_state::off || info->state == run_state::unknown)) info.reset();
  return info;
}

namespace {

using hypomnesis::backend_id;
using hypomnesis::part;
using hypomnesis::run_state;
using hypomnesis::status_code;

void append(std::string& list, const std::string& text) {
  list += (list.empty() ? "" : "; ") + text;
}

// Lists cards with a driver on this machine that are not visible in this container.
std::string list_hidden_cards(const Session& session, const hypomnesis::snapshot& snapshot) {
  std::string list;
  const auto drm = session.backend(backend_id::drm);
  if (!drm || drm->state != run_state::ready) return list;
  for (const auto& diagnostic : snapshot.diagnostics())
    if (diagnostic.status == status_code::no_device && diagnostic.backend == backend_id::drm)
      append(list, diagnostic.message);
  return list;
}

// Lists what sources lack that may have a GPU, as the driver's library.
std::string list_missing_sources(const hypomnesis::snapshot& snapshot) {
  std::string list;
  for (const auto& diagnostic : snapshot.diagnostics())
    if (diagnostic.status == status_code::no_source && !diagnostic.device_index)
      append(list, describe(diagnostic));
  return list;
}

std::string list_reasons(const Session& session, const hypomnesis::snapshot& snapshot) {
  if (auto list = list_hidden_cards(session, snapshot); !list.empty()) return list;
  if (auto list = list_unmeasured_gpus(); !list.empty()) return list;
  return list_missing_sources(snapshot);
}

}  // namespace

std::string explain_no_gpu(const Session& session, const hypomnesis::snapshot& snapshot) {
  if (const auto simulation = session.simulation())
    return fmt::format("none found: {}", simulation->message.empty()
                                             ? "the simulated machine has none"
                                             : simulation->message);
  const auto list = list_reasons(session, snapshot);
  return fmt::format("none found{}{}; `hmn doctor` lists what was searched",
                     list.empty() ? "" : ": ", list);
}

std::optional<std::string> explain_search_failure(const hypomnesis::snapshot& snapshot) {
  const auto info = snapshot.info();
  if (info.device_count != 0 || !has(info.notes, hypomnesis::note::partial)) return std::nullopt;
  for (const auto& diagnostic : snapshot.diagnostics())
    if (hides_devices(diagnostic)) return describe(diagnostic);
  return std::nullopt;
}

bool has_search_failed(const hypomnesis::snapshot& snapshot) {
  return explain_search_failure(snapshot).has_value();
}

bool is_late(const hypomnesis::snapshot& snapshot) {
  if (!has(snapshot.info().notes, hypomnesis::note::partial)) return false;
  const auto diagnostics = snapshot.diagnostics();
  return std::any_of(diagnostics.begin(), diagnostics.end(),
                     [](const hypomnesis::diagnostic& diagnostic) {
                       return diagnostic.status == status_code::timeout &&
                              !diagnostic.device_index && hides_devices(diagnostic);
                     });
}

bool lacks_devices(const std::vector<hypomnesis::diagnostic>& diagnostics,
                   const std::function<run_state(std::uint32_t index)>& get_state) {
  return std::any_of(diagnostics.begin(), diagnostics.end(),
                     [&](const hypomnesis::diagnostic& diagnostic) {
                       return hides_some_devices(diagnostic) &&
                              (!diagnostic.device_index ||
                               get_state(*diagnostic.device_index) == run_state::ready);
                     });
}

bool lacks_devices(const hypomnesis::snapshot& snapshot) {
  const auto info = snapshot.info();
  if (info.device_count == 0 || !has(info.notes, hypomnesis::note::lower_bound)) return false;
  const auto devices = snapshot.devices();
  return lacks_devices(snapshot.diagnostics(), [&](std::uint32_t index) {
    return find_by_index(devices, index, &hypomnesis::device::index)->state;
  });
}

std::optional<Failure> check_for_gpus(const Session& session, const std::string& prefix) {
  hypomnesis::snapshot_options options;
  options.collect = part::devices;
  const auto first = session.collect(options);
  if (first.info().device_count != 0) return std::nullopt;
  if (!has_search_failed(first)) return make_failure(prefix + explain_no_gpu(session, first));
  print_diagnostics(first);
  return make_failure(prefix + "the search for GPUs failed");
}

}  // namespace hmn::cli
