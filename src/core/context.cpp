// SPDX-License-Identifier: MIT OR Apache-2.0
#include "core/context.hpp"

#include <algorithm>

#include "core/reason.hpp"
#include "core/usable.hpp"
#include "model/message_text.hpp"
#include "platform/process.hpp"

namespace hmn {
namespace {

std::string& place_of(Settings& s, PathKind which) {
  switch (which) {
    case PathKind::proc:
      return s.proc_root;
    case PathKind::sys:
      return s.sys_root;
    case PathKind::nvml:
      return s.nvml_path;
    case PathKind::nvidia_smi:
      return s.nvidia_smi_path;
    case PathKind::rocm_smi:
      return s.rocm_smi_path;
    case PathKind::amd_smi:
      return s.amd_smi_path;
    case PathKind::macmon:
      return s.macmon_path;
    case PathKind::simulation:
      return s.simulation_path;
    case PathKind::dev:
      return s.dev_root;
    case PathKind::cgroup:
      break;
  }
  return s.cgroup_root;
}

Source source_behind(PathKind which) {
  switch (which) {
    case PathKind::nvml:
      return Source::nvml;
    case PathKind::nvidia_smi:
      return Source::nvidia_smi;
    case PathKind::rocm_smi:
      return Source::rocm_smi;
    case PathKind::amd_smi:
      return Source::amd_smi;
    case PathKind::macmon:
      return Source::macmon;
    case PathKind::simulation:
      return Source::simulated;
    case PathKind::proc:
    case PathKind::sys:
    case PathKind::cgroup:
    case PathKind::dev:
      break;
  }
  return Source::os;
}

// Maps a source's failure to the state of its devices.
State state_after(const Failure& why) {
  switch (why.code) {
    case Status::timeout:
      return State::hung;
    case Status::no_source:
    case Status::device_lost:
      return State::lost;
    default:
      return State::unreadable;
  }
}

// Returns whether the failure is in this process and reveals nothing about the machine.
bool is_of_this_process(const Failure& why) {
  return why.code == Status::no_memory || why.code == Status::limit || why.code == Status::internal;
}

// Returns whether the failure proves that the source has no device: its driver or tool is absent. A
// file that was named and could not be found (an errno) proves nothing.
bool is_absence(const Failure& why) {
  return why.code == Status::no_device ||
         (why.code == Status::no_source && why.native.domain != NativeDomain::error_number);
}

}  // namespace

Context::Context(const Settings& s, const Limits& l)
    : settings_(s),
      limits_(l),
      generation_(platform::process_generation()),
      own_pid_(platform::current_pid()) {}

Context::~Context() {
  if (!is_forked()) return;
  for (const std::unique_ptr<Worker>& w : workers_) w->abandon();
}

bool Context::is_forked() const noexcept {
  return generation_ != platform::process_generation();
}

void Context::set_cancelled(bool is_cancelled) noexcept {
  // Set before the locks are taken: a caller that is about to wait checks it under one of them.
  is_cancelled_ = is_cancelled;
  {
    const std::lock_guard lock(start_mutex_);
    for (const std::unique_ptr<Worker>& w : workers_) w->wake();
  }
  const std::lock_guard lock(listeners_mutex_);
  for (CancelListener* const listener : listeners_) listener->update_cancelled();
}

void Context::add_listener(CancelListener& listener) {
  const std::lock_guard lock(listeners_mutex_);
  listeners_.push_back(&listener);
}

void Context::remove_listener(CancelListener& listener) noexcept {
  const std::lock_guard lock(listeners_mutex_);
  std::erase(listeners_, &listener);
}

Result<void> Context::set_path(PathKind which, std::string_view value) {
  if (Result<void> ok = require(source_behind(which)); !ok) return ok;
  const std::lock_guard lock(start_mutex_);
  if (started_) {
    return failed(Status::state, "a path can only be set before the context's first reading");
  }
  std::string& place = place_of(settings_, which);
  place = value.empty() ? place_of(*std::make_unique<Settings>(), which) : std::string(value);
  return {};
}

void Context::start() {
  if (started_.load(std::memory_order_acquire)) return;
  const std::lock_guard lock(start_mutex_);
  if (started_) return;
  SourceList list = make_sources(settings_);
  host_ = std::move(list.host);
  workers_.clear();
  nvidia_smi_ = nullptr;
  for (ListedSource& s : list.devices) {
    workers_.push_back(
        std::make_unique<Worker>(std::move(s), host_, settings_, limits_, is_cancelled_));
    if (workers_.back()->id() == Source::nvidia_smi) nvidia_smi_ = workers_.back().get();
  }
  recorder_ = std::move(list.recorder);
  started_.store(true, std::memory_order_release);
}

Result<Context::Refusals> Context::ask(const Plan& p, std::optional<std::uint32_t> index,
                                       Deadline& d, Visitor visit, std::vector<ScanStep>* steps) {
  Refusals out;
  std::uint64_t served = 0;     // bit n: source n has answered
  std::uint64_t listed_by = 0;  // bit n: source n has listed its devices in this reading
  bool wants_more = true;
  for (const std::unique_ptr<Worker>& from : workers_) {
    if (!wants_more) break;
    if ((from->fallback_for() & served) != 0) {
      if ((from->fallback_for() & listed_by) == 0) continue;
      if (steps != nullptr) {
        steps->push_back({from.get(), {}, true});
      } else {
        forget_devices(*from);
      }
      continue;
    }
    if (index && !may_have(*from, *index)) continue;
    if (from->is_absent(d.begun()) && is_expected_absence(*from, index)) continue;
    d.leave_for_next(share_after(*from, index));
    const Plan q = plan_for(*from, p, index);
    bool conclusive = false;
    bool listed = false;
    Result<void> answered = from->run(q, d, [&](const SourceCache& known, const Moment& m) {
      conclusive = known.conclusive && !m.late;
      const std::uint64_t resting = resting_ & ~bit_of(from->id());
      resting_ = known.rests ? resting | bit_of(from->id()) : resting;
      if (known.refused && !is_late(*known.refused)) return;
      // If this call is late, a list that came too late for an earlier one still serves it.
      listed = q.list && known.listed_ns >= m.since;
      if (q.list && known.listed_ns != 0) {
        if (steps != nullptr) {
          steps->push_back({from.get(), {}});
        } else {
          update_devices(*from, known);
        }
      }
      if (listed) listed_by |= bit_of(from->id());
      for (const DeviceCache& a : known.devices) {
        if (!a.listed) continue;
        served |= bit_of(a.identity.from);
        if (listed) listed_by |= bit_of(a.identity.from);
      }
      wants_more = visit(*from, known, m);
    });
    if (!answered && hmn::is_cancelled(answered.why())) return answered.why();
    if (answered || is_late(answered.why())) served |= bit_of(from->id());
    if (answered) continue;
    if (conclusive && is_expected_absence(*from, index)) continue;
    if (!listed && steps != nullptr) {
      steps->push_back({from.get(), answered.why()});
    } else if (!listed) {
      note_refusal(*from, answered.why(), q.list ? std::nullopt : index);
    }
    out.push_back({from->id(), answered.why(), conclusive});
  }
  return out;
}

Deadline Context::new_deadline(std::optional<std::uint64_t> deadline_ns,
                               std::uint64_t begun) const {
  return {begun, deadline_ns.value_or(limits_.deadline_ns), limits_.open_deadline_ns};
}

Plan Context::new_plan() const {
  Plan p;
  p.own_pid = own_pid_;
  p.device_classes = settings_.device_classes;
  return p;
}

// Returns whether the failure can be dropped: an absent source matters only to devices it has
// listed.
bool Context::is_expected_absence(const Worker& from, std::optional<std::uint32_t> index) {
  const std::lock_guard lock(table_mutex_);
  if (index) return !table_.slot_of(*index, from.id());
  return table_.count() != 0 && !table_.has_of(from.id());
}

// Returns whether the source is queried for the device. A healthy device concerns the sources that
// list it; a failed one may have come back through any source.
bool Context::may_have(const Worker& from, std::uint32_t index) {
  const std::lock_guard lock(table_mutex_);
  const State s = table_.at(index).state;
  return table_.slot_of(index, from.id()) || (s != State::ready && s != State::asleep);
}

// Returns the share of the time to leave for the sources after this one, fallbacks aside: half if
// one of them can block, a quarter for others if only this one can.
Deadline::Share Context::share_after(const Worker& from, std::optional<std::uint32_t> index) {
  Deadline::Share most = Deadline::Share::none;
  bool is_after = false;
  for (const std::unique_ptr<Worker>& next : workers_) {
    if (is_after && next->fallback_for() == 0) {
      if (next->can_block() && (!index || may_have(*next, *index))) return Deadline::Share::half;
      if (from.can_block() && most == Deadline::Share::none && serves(*next, index)) {
        most = Deadline::Share::quarter;
      }
    }
    is_after = is_after || next.get() == &from;
  }
  return most;
}

// Returns whether the source has devices, as far as it is known.
bool Context::serves(Worker& from, std::optional<std::uint32_t> index) {
  if (index) return may_have(from, *index);
  {
    const std::lock_guard lock(table_mutex_);
    if (table_.count() != 0) return table_.has_of(from.id());
  }
  return from.may_serve();
}

Plan Context::plan_for(const Worker& from, Plan p, std::optional<std::uint32_t> index) {
  if (!index) return p;
  const std::lock_guard lock(table_mutex_);
  const State s = table_.at(*index).state;
  p.only = table_.slot_of(*index, from.id());
  p.list = p.list || !p.only || (s != State::ready && s != State::asleep);
  return p;
}

void Context::update_devices(Worker& from, const SourceCache& known) {
  const std::lock_guard lock(table_mutex_);
  listed_.clear();
  for (const DeviceCache& d : known.devices) {
    if (d.listed) listed_.push_back(&d.identity);
  }
  table_.update(from.id(), listed_);
}

void Context::forget_devices(const Worker& from) {
  const std::lock_guard lock(table_mutex_);
  if (table_.has_of(from.id())) table_.update(from.id(), {});
}

void Context::note_refusal(const Worker& from, const Failure& why,
                           std::optional<std::uint32_t> only) {
  const std::lock_guard lock(table_mutex_);
  if (only) {
    table_.set_state(*only, state_after(why));
  } else {
    table_.set_state(from.id(), state_after(why));
  }
}

void Context::set_usable(MergedDevice& d, std::optional<PoolKind> only) {
  if (d.pools.empty()) return;
  const std::string_view address = d.identity.pci_bus_id.view();
  if (!address.empty()) host_->limit(address, d.pools);
  hmn::set_usable(d.pools, d.identity, *host_, only);
}

Result<void> Context::scan(Deadline& d) {
  start();
  Plan p = new_plan();
  p.list = true;
  std::vector<ScanStep> steps;
  const Result<Refusals> refused = ask(
      p, std::nullopt, d, [](auto&&...) { return true; }, &steps);
  if (!refused) return refused.why();
  const bool has_failed =
      std::ranges::any_of(*refused, [](const Refusal& r) { return is_of_this_process(r.why); });
  if (!has_failed) take_over(steps);
  if (const auto why = remember_scan(*refused)) return *why;
  return {};
}

void Context::take_over(const std::vector<ScanStep>& steps) {
  for (const ScanStep& step : steps) {
    if (step.is_replaced) {
      forget_devices(*step.from);
    } else if (step.why) {
      note_refusal(*step.from, *step.why, {});
    } else {
      // Its list as it is now, so that of two scans at once the newer list counts.
      step.from->show(
          [&](const SourceCache& known, const Moment&) { update_devices(*step.from, known); }, {});
    }
  }
}

std::optional<Failure> Context::remember_scan(const Refusals& refused) {
  const std::lock_guard lock(table_mutex_);
  for (const Refusal& r : refused) {
    if (is_of_this_process(r.why)) return r.why;
    if (table_.count() == 0 && !is_absence(r.why)) return r.why;
  }
  has_scanned_ = true;
  refused_ = refused;
  return std::nullopt;
}

Result<void> Context::ensure_scanned(Deadline& d) {
  start();
  {
    const std::lock_guard lock(table_mutex_);
    if (has_scanned_) return {};
  }
  return scan(d);
}

// The caller holds the table's mutex.
Failure Context::no_device(std::uint32_t index) const {
  Failure none{Status::no_device, Source::none, {}, {}};
  if (const std::uint32_t count = table_.count(); count != 0) {
    none.message = {"no device ", index, ": the indexes are 0 to ", count - 1};
    return none;
  }
  for (const Refusal& r : refused_) {
    if (r.conclusive) continue;
    none.from = r.why.from;
    none.native = r.why.native;
    none.message = {"no device ", index, ": ", r.why.message.view()};
    return none;
  }
  none.message = {"no device ", index, ": no GPU was found"};
  return none;
}

Result<void> Context::ensure_listed(std::uint32_t index, Deadline& d) {
  if (Result<void> ok = ensure_scanned(d); !ok) return ok;
  const std::lock_guard lock(table_mutex_);
  return index < table_.count() ? Result<void>() : no_device(index);
}

Result<DeviceScan> Context::scan() {
  Deadline d = new_deadline();
  if (Result<void> ok = scan(d); !ok) return ok.why();
  const std::lock_guard lock(table_mutex_);
  return DeviceScan{table_.count(), table_.generation()};
}

Result<std::uint32_t> Context::find(std::string_view text) {
  const Result<DeviceKey> key = parse_device_key(text);
  if (!key) return key.why();
  Deadline d = new_deadline();
  if (Result<void> ok = ensure_scanned(d); !ok) return ok.why();
  const std::lock_guard lock(table_mutex_);
  if (const auto index = table_.find(*key)) return *index;
  std::string shown;
  append_utf8(shown, text.substr(0, 120));
  Failure none = failed(Status::no_device,
                        {"no device has the key \"", shown, "\"; ", table_.count(), " known"});
  // A device that could not be read may have the key.
  if (const Device* const one = table_.find_possible(*key)) none = reason_of_state(*one);
  for (const Refusal& r : refused_) {
    if (!r.conclusive && !is_absence(r.why)) none = r.why;
  }
  if (none.code != Status::no_device) {
    none.message = {"no known device has the key \"", shown, "\": ", none.message.view()};
  }
  return none;
}

Result<Device> Context::identity(std::uint32_t index) {
  Deadline d = new_deadline();
  if (Result<void> ok = ensure_listed(index, d); !ok) return ok.why();
  const std::lock_guard lock(table_mutex_);
  Device found = table_.at(index);
  end_reading(found, platform::continuous_ns());
  return found;
}

Result<void> Context::memory(std::uint32_t pid, FieldSet fields, ProcessMemory& out) {
  start();
  out.pid = pid;
  return host_->memory(pid, fields, out);
}

Result<void> Context::own_memory(FieldSet fields, ProcessMemory& out) {
  start();
  out.pid = own_pid_;
  return host_->own_memory(fields, out);
}

Result<void> Context::system(SystemMemory& out) {
  start();
  return read_system(*host_, out, drop_silently);
}

Result<void> Context::recording(std::string& out) {
  start();
  if (recorder_) return recorder_->text(out);
  const char* const why = settings_.record ? "a simulated machine is not recorded"
                                           : "the context was created without recording";
  return failed(Status::state, why);
}

Result<SourceState> Context::backend(Source which) {
  if (!is_available(which)) {
    if (Result<void> ok = require(which); !ok) return SourceState{State::off, ok.why(), {}};
  }
  start();
  if (which == Source::os) return SourceState{State::ready, {Status::ok, which, {}, {}}, {}};
  if (const auto found = host_->describe_source(which)) return *found;
  Plan p = new_plan();
  p.describe = which;
  for (const std::unique_ptr<Worker>& from : workers_) {
    if (!from->answers_for(which)) continue;
    Deadline d = new_deadline();
    SourceState found;
    const Result<void> answered =
        from->run(p, d, [&](const SourceCache& known, const Moment&) { found = known.condition; });
    if (!answered) {
      if (hmn::is_cancelled(answered.why())) return answered.why();
      found.why = answered.why();
      found.state =
          answered.why().code == Status::no_source ? State::absent : state_after(answered.why());
    }
    return found;
  }
  return SourceState{State::off, {Status::ok, which, {}, "switched off for this context"}, {}};
}

}  // namespace hmn
