// SPDX-License-Identifier: MIT OR Apache-2.0
#include "core/context.hpp"

#include <algorithm>

#include "core/reason.hpp"
#include "core/usable.hpp"
#include "model/message_text.hpp"
#include "platform/process.hpp"

namespace hmn {
namespace {

std::string& place_of(settings& s, path_kind which) {
  switch (which) {
    case path_kind::proc:
      return s.proc_root;
    case path_kind::sys:
      return s.sys_root;
    case path_kind::nvml:
      return s.nvml_path;
    case path_kind::nvidia_smi:
      return s.nvidia_smi_path;
    case path_kind::rocm_smi:
      return s.rocm_smi_path;
    case path_kind::amd_smi:
      return s.amd_smi_path;
    case path_kind::macmon:
      return s.macmon_path;
    case path_kind::simulation:
      return s.simulation_path;
    case path_kind::dev:
      return s.dev_root;
    case path_kind::cgroup:
      break;
  }
  return s.cgroup_root;
}

source source_behind(path_kind which) {
  switch (which) {
    case path_kind::nvml:
      return source::nvml;
    case path_kind::nvidia_smi:
      return source::nvidia_smi;
    case path_kind::rocm_smi:
      return source::rocm_smi;
    case path_kind::amd_smi:
      return source::amd_smi;
    case path_kind::macmon:
      return source::macmon;
    case path_kind::simulation:
      return source::simulated;
    case path_kind::proc:
    case path_kind::sys:
    case path_kind::cgroup:
    case path_kind::dev:
      break;
  }
  return source::os;
}

// Maps a source's failure to the state of its devices.
state state_after(const failure& why) {
  switch (why.code) {
    case status::timeout:
      return state::hung;
    case status::no_source:
    case status::device_lost:
      return state::lost;
    default:
      return state::unreadable;
  }
}

// Returns whether the failure is in this process and reveals nothing about the machine.
bool is_of_this_process(const failure& why) {
  return why.code == status::no_memory || why.code == status::limit || why.code == status::internal;
}

// Returns whether the failure proves that the source has no device: its driver or tool is absent. A
// file that was named and could not be found (an errno) proves nothing.
bool is_absence(const failure& why) {
  return why.code == status::no_device ||
         (why.code == status::no_source && why.native.domain != native_domain::error_number);
}

}  // namespace

context::context(const settings& s, const limits& l)
    : settings_(s),
      limits_(l),
      generation_(platform::process_generation()),
      own_pid_(platform::current_pid()) {}

context::~context() {
  if (!is_forked()) return;
  for (const std::unique_ptr<worker>& w : workers_) w->abandon();
}

bool context::is_forked() const noexcept {
  return generation_ != platform::process_generation();
}

void context::set_cancelled(bool is_cancelled) noexcept {
  // Set before the locks are taken: a caller that is about to wait checks it under one of them.
  is_cancelled_ = is_cancelled;
  {
    const std::lock_guard lock(start_mutex_);
    for (const std::unique_ptr<worker>& w : workers_) w->wake();
  }
  const std::lock_guard lock(listeners_mutex_);
  for (CancelListener* const listener : listeners_) listener->update_cancelled();
}

void context::add_listener(CancelListener& listener) {
  const std::lock_guard lock(listeners_mutex_);
  listeners_.push_back(&listener);
}

void context::remove_listener(CancelListener& listener) noexcept {
  const std::lock_guard lock(listeners_mutex_);
  std::erase(listeners_, &listener);
}

result<void> context::set_path(path_kind which, std::string_view value) {
  if (result<void> ok = require(source_behind(which)); !ok) return ok;
  const std::lock_guard lock(start_mutex_);
  if (started_) {
    return failed(status::state, "a path can only be set before the context's first reading");
  }
  std::string& place = place_of(settings_, which);
  place = value.empty() ? place_of(*std::make_unique<settings>(), which) : std::string(value);
  return {};
}

void context::start() {
  if (started_.load(std::memory_order_acquire)) return;
  const std::lock_guard lock(start_mutex_);
  if (started_) return;
  source_list list = make_sources(settings_);
  host_ = std::move(list.host);
  workers_.clear();
  nvidia_smi_ = nullptr;
  for (listed_source& s : list.devices) {
    workers_.push_back(
        std::make_unique<worker>(std::move(s), host_, settings_, limits_, is_cancelled_));
    if (workers_.back()->id() == source::nvidia_smi) nvidia_smi_ = workers_.back().get();
  }
  recorder_ = std::move(list.recorder);
  started_.store(true, std::memory_order_release);
}

result<context::refusals> context::ask(const plan& p, std::optional<std::uint32_t> index,
                                       deadline& d, visitor visit,
                                       std::vector<scan_step>* steps) {
  refusals out;
  std::uint64_t served = 0;     // bit n: source n has answered
  std::uint64_t listed_by = 0;  // bit n: source n has listed its devices in this reading
  bool wants_more = true;
  for (const std::unique_ptr<worker>& from : workers_) {
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
    const plan q = plan_for(*from, p, index);
    bool conclusive = false;
    bool listed = false;
    result<void> answered = from->run(q, d, [&](const source_cache& known, const moment& m) {
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
      for (const device_cache& a : known.devices) {
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

deadline context::new_deadline(std::optional<std::uint64_t> deadline_ns,
                               std::uint64_t begun) const {
  return {begun, deadline_ns.value_or(limits_.deadline_ns), limits_.open_deadline_ns};
}

plan context::new_plan() const {
  plan p;
  p.own_pid = own_pid_;
  p.device_classes = settings_.device_classes;
  return p;
}

// Returns whether the failure can be dropped: an absent source matters only to devices it has
// listed.
bool context::is_expected_absence(const worker& from, std::optional<std::uint32_t> index) {
  const std::lock_guard lock(table_mutex_);
  if (index) return !table_.slot_of(*index, from.id());
  return table_.count() != 0 && !table_.has_of(from.id());
}

// Returns whether the source is queried for the device. A healthy device concerns the sources that
// list it; a failed one may have come back through any source.
bool context::may_have(const worker& from, std::uint32_t index) {
  const std::lock_guard lock(table_mutex_);
  const state s = table_.at(index).state;
  return table_.slot_of(index, from.id()) || (s != state::ready && s != state::asleep);
}

// Returns the share of the time to leave for the sources after this one, fallbacks aside: half if
// one of them can block, a quarter for others if only this one can.
deadline::share context::share_after(const worker& from, std::optional<std::uint32_t> index) {
  deadline::share most = deadline::share::none;
  bool is_after = false;
  for (const std::unique_ptr<worker>& next : workers_) {
    if (is_after && next->fallback_for() == 0) {
      if (next->can_block() && (!index || may_have(*next, *index))) return deadline::share::half;
      if (from.can_block() && most == deadline::share::none && serves(*next, index)) {
        most = deadline::share::quarter;
      }
    }
    is_after = is_after || next.get() == &from;
  }
  return most;
}

// Returns whether the source has devices, as far as it is known.
bool context::serves(worker& from, std::optional<std::uint32_t> index) {
  if (index) return may_have(from, *index);
  {
    const std::lock_guard lock(table_mutex_);
    if (table_.count() != 0) return table_.has_of(from.id());
  }
  return from.may_serve();
}

plan context::plan_for(const worker& from, plan p, std::optional<std::uint32_t> index) {
  if (!index) return p;
  const std::lock_guard lock(table_mutex_);
  const state s = table_.at(*index).state;
  p.only = table_.slot_of(*index, from.id());
  p.list = p.list || !p.only || (s != state::ready && s != state::asleep);
  return p;
}

void context::update_devices(worker& from, const source_cache& known) {
  const std::lock_guard lock(table_mutex_);
  listed_.clear();
  for (const device_cache& d : known.devices) {
    if (d.listed) listed_.push_back(&d.identity);
  }
  table_.update(from.id(), listed_);
}

void context::forget_devices(const worker& from) {
  const std::lock_guard lock(table_mutex_);
  if (table_.has_of(from.id())) table_.update(from.id(), {});
}

void context::note_refusal(const worker& from, const failure& why,
                           std::optional<std::uint32_t> only) {
  const std::lock_guard lock(table_mutex_);
  if (only) {
    table_.set_state(*only, state_after(why));
  } else {
    table_.set_state(from.id(), state_after(why));
  }
}

void context::set_usable(merged_device& d, std::optional<pool_kind> only) {
  if (d.pools.empty()) return;
  const std::string_view address = d.identity.pci_bus_id.view();
  if (!address.empty()) host_->limit(address, d.pools);
  hmn::set_usable(d.pools, d.identity, *host_, only);
}

result<void> context::scan(deadline& d) {
  start();
  plan p = new_plan();
  p.list = true;
  std::vector<scan_step> steps;
  const result<refusals> refused = ask(
      p, std::nullopt, d, [](auto&&...) { return true; }, &steps);
  if (!refused) return refused.why();
  const bool has_failed =
      std::ranges::any_of(*refused, [](const refusal& r) { return is_of_this_process(r.why); });
  if (!has_failed) take_over(steps);
  if (const auto why = remember_scan(*refused)) return *why;
  return {};
}

void context::take_over(const std::vector<scan_step>& steps) {
  for (const scan_step& step : steps) {
    if (step.is_replaced) {
      forget_devices(*step.from);
    } else if (step.why) {
      note_refusal(*step.from, *step.why, {});
    } else {
      // Its list as it is now, so that of two scans at once the newer list counts.
      step.from->show(
          [&](const source_cache& known, const moment&) { update_devices(*step.from, known); }, {});
    }
  }
}

std::optional<failure> context::remember_scan(const refusals& refused) {
  const std::lock_guard lock(table_mutex_);
  for (const refusal& r : refused) {
    if (is_of_this_process(r.why)) return r.why;
    if (table_.count() == 0 && !is_absence(r.why)) return r.why;
  }
  has_scanned_ = true;
  refused_ = refused;
  return std::nullopt;
}

result<void> context::ensure_scanned(deadline& d) {
  start();
  {
    const std::lock_guard lock(table_mutex_);
    if (has_scanned_) return {};
  }
  return scan(d);
}

// The caller holds the table's mutex.
failure context::no_device(std::uint32_t index) const {
  failure none{status::no_device, source::none, {}, {}};
  if (const std::uint32_t count = table_.count(); count != 0) {
    none.message = {"no device ", index, ": the indexes are 0 to ", count - 1};
    return none;
  }
  for (const refusal& r : refused_) {
    if (r.conclusive) continue;
    none.from = r.why.from;
    none.native = r.why.native;
    none.message = {"no device ", index, ": ", r.why.message.view()};
    return none;
  }
  none.message = {"no device ", index, ": no GPU was found"};
  return none;
}

result<void> context::ensure_listed(std::uint32_t index, deadline& d) {
  if (result<void> ok = ensure_scanned(d); !ok) return ok;
  const std::lock_guard lock(table_mutex_);
  return index < table_.count() ? result<void>() : no_device(index);
}

result<device_scan> context::scan() {
  deadline d = new_deadline();
  if (result<void> ok = scan(d); !ok) return ok.why();
  const std::lock_guard lock(table_mutex_);
  return device_scan{table_.count(), table_.generation()};
}

result<std::uint32_t> context::find(std::string_view text) {
  const result<device_key> key = parse_device_key(text);
  if (!key) return key.why();
  deadline d = new_deadline();
  if (result<void> ok = ensure_scanned(d); !ok) return ok.why();
  const std::lock_guard lock(table_mutex_);
  if (const auto index = table_.find(*key)) return *index;
  std::string shown;
  append_utf8(shown, text.substr(0, 120));
  failure none = failed(status::no_device,
                        {"no device has the key \"", shown, "\"; ", table_.count(), " known"});
  // A device that could not be read may have the key.
  if (const device* const one = table_.find_possible(*key)) none = reason_of_state(*one);
  for (const refusal& r : refused_) {
    if (!r.conclusive && !is_absence(r.why)) none = r.why;
  }
  if (none.code != status::no_device) {
    none.message = {"no known device has the key \"", shown, "\": ", none.message.view()};
  }
  return none;
}

result<device> context::identity(std::uint32_t index) {
  deadline d = new_deadline();
  if (result<void> ok = ensure_listed(index, d); !ok) return ok.why();
  const std::lock_guard lock(table_mutex_);
  device found = table_.at(index);
  end_reading(found, platform::continuous_ns());
  return found;
}

result<void> context::memory(std::uint32_t pid, FieldSet fields, process_memory& out) {
  start();
  out.pid = pid;
  return host_->memory(pid, fields, out);
}

result<void> context::own_memory(FieldSet fields, process_memory& out) {
  start();
  out.pid = own_pid_;
  return host_->own_memory(fields, out);
}

result<void> context::system(system_memory& out) {
  start();
  return read_system(*host_, out, drop_silently);
}

result<void> context::recording(std::string& out) {
  start();
  if (recorder_) return recorder_->text(out);
  const char* const why = settings_.record ? "a simulated machine is not recorded"
                                           : "the context was created without recording";
  return failed(status::state, why);
}

result<source_state> context::backend(source which) {
  if (!is_available(which)) {
    if (result<void> ok = require(which); !ok) return source_state{state::off, ok.why(), {}};
  }
  start();
  if (which == source::os) return source_state{state::ready, {status::ok, which, {}, {}}, {}};
  if (const auto found = host_->describe_source(which)) return *found;
  plan p = new_plan();
  p.describe = which;
  for (const std::unique_ptr<worker>& from : workers_) {
    if (!from->answers_for(which)) continue;
    deadline d = new_deadline();
    source_state found;
    const result<void> answered =
        from->run(p, d, [&](const source_cache& known, const moment&) { found = known.condition; });
    if (!answered) {
      if (hmn::is_cancelled(answered.why())) return answered.why();
      found.why = answered.why();
      found.state =
          answered.why().code == status::no_source ? state::absent : state_after(answered.why());
    }
    return found;
  }
  return source_state{state::off, {status::ok, which, {}, "switched off for this context"}, {}};
}

}  // namespace hmn
