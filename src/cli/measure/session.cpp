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

constexpr milliseconds usual_patience(2000);
constexpr milliseconds usual_listing(1000);

// Part of the timeout in which the first list waits for an opening, by itself: the library's two
// time limits, of openings and of a reading, add up.
milliseconds opening_part(milliseconds timeout) {
  return std::clamp(timeout / 10, milliseconds(1), milliseconds(500));
}

hypomnesis::context_options options_of(const SessionSettings& asked) {
  using hypomnesis::context_flag;
  hypomnesis::context_options out;
  out.flags = context_flag::environment;
  if (asked.trace) out.flags |= context_flag::trace;
  if (asked.record) out.flags |= context_flag::record;
  out.deadline = milliseconds(asked.deadline_ms);
  const milliseconds timeout(asked.timeout_ms);
  out.open_deadline = asked.lists ? opening_part(timeout) : timeout;
  if (!asked.gpus_only) out.device_classes = all_device_classes;
  return out;
}

constexpr const char* by_environment = "HMN_SIMULATION";

// Returns none for an empty variable, which the library ignores.
std::optional<std::string> simulation_file() {
  auto file = environment_value(by_environment);
  if (file && file->empty()) file.reset();
  return file;
}

// Simulated machine, and what has named it.
struct MachineChoice {
  std::string_view by;
  std::string name;
};

// Returns none for this machine itself.
std::optional<MachineChoice> choose_machine(const SessionSettings& asked) {
  if (!asked.machine.empty()) return MachineChoice{"--machine", asked.machine};
  if (auto file = simulation_file()) return MachineChoice{by_environment, *std::move(file)};
  return std::nullopt;
}

Failure refused(const MachineChoice& machine, std::string_view why) {
  return failed(fmt::format("{} \"{}\": {}", machine.by, machine.name, why));
}

bool is_name(const std::string& machine) {
  return machine.find_first_of(path_separators) == std::string::npos;
}

// Returns the path of a machine that was given by its file or, if there is no such file, by the
// name of an installed one.
Expected<std::string> find_machine(const MachineChoice& machine) {
  const auto why = why_unreadable(machine.name);
  if (!why) return absolute_path(machine.name);
  if (!is_name(machine.name) || is_there(machine.name)) return refused(machine, *why);
  if (auto installed = machine_file(machine.name)) return *std::move(installed);
  const auto names = machine_names();
  return refused(machine,
                 names.empty()
                     ? fmt::format("{}, and no example machines are installed with this hmn", *why)
                     : fmt::format("{}, and no machine of this name: there are {}", *why,
                                   fmt::join(names, ", ")));
}

// Returns why a machine file is malformed. A reading of a process that it does not describe is not
// counted.
std::optional<std::string> why_malformed(const hypomnesis::context& in) {
  constexpr auto no_process = std::numeric_limits<std::uint32_t>::max();
  try {
    in.process_memory(no_process, hypomnesis::process_memory_field::resident);
  } catch (const hypomnesis::error& why) {
    if (why.status() == hypomnesis::status_code::argument) return why.what();
  }
  return std::nullopt;
}

}  // namespace

Session::Session(const SessionSettings& asked)
    : library_(options_of(asked)),
      timeout_(asked.timeout_ms),
      ends_(Clock::now() + timeout_),
      search_(asked.search_ms),
      has_timeout_(asked.has_timeout),
      is_traced_(asked.trace),
      is_simulated_(choose_machine(asked).has_value()) {}

Expected<Session> Session::open(const SessionSettings& asked) {
  // An absent driver is no failure of the library; an unusable file named by the user is one.
  const auto machine = choose_machine(asked);
  std::string path;
  if (machine) {
    auto found = find_machine(*machine);
    if (!found) return found.why();
    path = *std::move(found);
    // The library, and a command that hmn runs, take an absolute path alone.
    if (machine->by == by_environment) set_environment(by_environment, path);
  }
  Session opened(asked);
  if (machine) {
    try {
      opened.library_.set_path(hypomnesis::path_kind::simulation, path);
    } catch (const hypomnesis::error& why) {
      return refused(*machine, why.what());
    }
    opened.machine_ = path;
  }
  if (!opened.is_simulated_)
    advice_in_notice = why_drivers_are_slow();
  else if (const auto why = why_malformed(opened.library_))
    return failed(*why);
  return opened;
}

std::optional<procfs::Workload> Session::workload(const hypomnesis::usage& row) const {
  if (has(row.notes, hypomnesis::note::foreign_pid)) return std::nullopt;
  if (!is_simulated_) return process_workload(row.pid);
  if (!workloads_) workloads_.emplace(machine_);
  return workloads_->find(row.pid);
}

// Reports an end of the search by itself: a driver may only be slow to start.
void Session::report_given_up(const hypomnesis::snapshot& found) const {
  if (is_over() || found.info().device_count != 0) return;
  write_notice(fmt::format("no GPU was listed within {} s; --timeout waits longer",
                           search_ / std::chrono::seconds(1)));
}

milliseconds Session::time_left() const {
  const auto left = std::chrono::ceil<milliseconds>(ends_ - Clock::now());
  return std::max(left, milliseconds(1));
}

milliseconds Session::patience() const {
  if (has_timeout_) return time_left();
  return std::min(time_left(), std::max(usual_patience, 2 * listing_));
}

// Asks again for what is late: the library does not wait for a call that it has given up. Without
// --timeout a driver that does not answer holds up no device of another one.
hypomnesis::snapshot Session::list_until_answered(hypomnesis::snapshot_options what) const {
  constexpr milliseconds pause(100);
  const auto whole = std::min(time_left(), search_);
  const auto until = Clock::now() + whole;
  what.deadline = whole - std::min(opening_part(whole), whole - milliseconds(1));
  if (!has_timeout_)
    what.deadline = std::min<std::chrono::nanoseconds>(what.deadline, usual_listing);
  for (;;) {
    auto found = library_.take(what);
    if (!is_late(found)) return found;
    if (Clock::now() >= until) {
      report_given_up(found);
      return found;
    }
    if (!has_timeout_ && found.info().device_count != 0) return found;
    std::this_thread::sleep_until(std::min(Clock::now() + pause, until));
    what.deadline =
        std::max(std::chrono::ceil<milliseconds>(until - Clock::now()), milliseconds(1));
  }
}

hypomnesis::snapshot Session::list(hypomnesis::part with) const {
  const auto begun = Clock::now();
  hypomnesis::snapshot_options what;
  what.collect = with | hypomnesis::part::devices;
  auto found = list_until_answered(what);
  listed_ = DeviceList{found.devices(), why_search_failed(found)};
  if (!listed_->why_failed)
    listing_ = std::chrono::duration_cast<milliseconds>(Clock::now() - begun);
  return found;
}

const DeviceList& Session::listed() const {
  if (!listed_) list({});
  return *listed_;
}

hypomnesis::snapshot Session::take(hypomnesis::snapshot_options what, milliseconds used) const {
  constexpr milliseconds least(200);
  const auto whole = patience();
  what.deadline = std::min(whole, std::max(whole - used, least));
  return library_.take(what);
}

hypomnesis::snapshot Session::take_briefly(hypomnesis::snapshot_options what) const {
  constexpr milliseconds moment(250);
  what.deadline = std::min(patience(), std::max(moment, 2 * listing_));
  return library_.take(what);
}

hypomnesis::snapshot Session::collect(const hypomnesis::snapshot_options& what) const {
  using hypomnesis::part;
  const WaitingNotice notice;
  constexpr part of_host = part::memory | part::system;
  if (!listed_) {
    const bool may_be_all = what.collect != everything;
    auto first = list(may_be_all ? what.collect & of_host : part{});
    if (is_traced_) print_trace(first);
    if (listed_->devices.empty() && may_be_all) return first;
    if ((what.collect & ~(of_host | part::devices)) == part{}) return first;
  }
  auto whole = listed_->why_failed ? take_briefly(what) : take(what);
  if (is_traced_) print_trace(whole);
  return whole;
}

std::optional<hypomnesis::backend_info> Session::backend(hypomnesis::backend_id which) const {
  return attempt([&] { return library_.backend(which); });
}

std::optional<bool> Session::has_ended(std::uint32_t pid) const {
  using hypomnesis::status_code;
  try {
    library_.process_memory(pid, hypomnesis::process_memory_field::resident);
  } catch (const hypomnesis::error& why) {
    if (why.status() == status_code::no_source) return std::nullopt;
    return why.status() == status_code::no_process;
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
std::string hidden(const Session& in, const hypomnesis::snapshot& snapshot) {
  std::string list;
  const auto drm = in.backend(backend_id::drm);
  if (!drm || drm->state != run_state::ready) return list;
  for (const auto& each : snapshot.diagnostics())
    if (each.status == status_code::no_device && each.backend == backend_id::drm)
      append(list, each.message);
  return list;
}

// Lists what sources lack that may have a GPU, as the driver's library.
std::string lacking_sources(const hypomnesis::snapshot& snapshot) {
  std::string list;
  for (const auto& each : snapshot.diagnostics())
    if (each.status == status_code::no_source && !each.device_index) append(list, describe(each));
  return list;
}

std::string reasons(const Session& in, const hypomnesis::snapshot& snapshot) {
  if (auto list = hidden(in, snapshot); !list.empty()) return list;
  if (auto list = unmeasured_gpus(); !list.empty()) return list;
  return lacking_sources(snapshot);
}

}  // namespace

std::string why_no_gpu(const Session& in, const hypomnesis::snapshot& snapshot) {
  if (const auto simulated = in.simulation())
    return fmt::format("none found: {}", simulated->message.empty()
                                             ? "the simulated machine has none"
                                             : simulated->message);
  const auto list = reasons(in, snapshot);
  return fmt::format("none found{}{}; `hmn doctor` lists what was searched",
                     list.empty() ? "" : ": ", list);
}

std::optional<std::string> why_search_failed(const hypomnesis::snapshot& snapshot) {
  const auto info = snapshot.info();
  if (info.device_count != 0 || !has(info.notes, hypomnesis::note::partial)) return std::nullopt;
  for (const auto& each : snapshot.diagnostics())
    if (hides_devices(each)) return describe(each);
  return std::nullopt;
}

bool search_failed(const hypomnesis::snapshot& snapshot) {
  return why_search_failed(snapshot).has_value();
}

bool is_late(const hypomnesis::snapshot& list) {
  if (!has(list.info().notes, hypomnesis::note::partial)) return false;
  const auto all = list.diagnostics();
  return std::any_of(all.begin(), all.end(), [](const hypomnesis::diagnostic& each) {
    return each.status == status_code::timeout && !each.device_index && hides_devices(each);
  });
}

bool lacks_devices(const std::vector<hypomnesis::diagnostic>& all,
                   const std::function<run_state(std::uint32_t index)>& state_of) {
  return std::any_of(all.begin(), all.end(), [&](const hypomnesis::diagnostic& each) {
    return lessens_devices(each) &&
           (!each.device_index || state_of(*each.device_index) == run_state::ready);
  });
}

bool lacks_devices(const hypomnesis::snapshot& snapshot) {
  const auto info = snapshot.info();
  if (info.device_count == 0 || !has(info.notes, hypomnesis::note::lower_bound)) return false;
  const auto devices = snapshot.devices();
  return lacks_devices(snapshot.diagnostics(), [&](std::uint32_t index) {
    return find_device_in(devices, index, &hypomnesis::device::index)->state;
  });
}

std::optional<Failure> check_for_gpus(const Session& in, const std::string& lacking) {
  hypomnesis::snapshot_options what;
  what.collect = part::devices;
  const auto first = in.collect(what);
  if (first.info().device_count != 0) return std::nullopt;
  if (!search_failed(first)) return failed(lacking + why_no_gpu(in, first));
  print_diagnostics(first);
  return failed(lacking + "the search for GPUs failed");
}

}  // namespace hmn::cli
