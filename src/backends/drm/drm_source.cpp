// SPDX-License-Identifier: MIT OR Apache-2.0
#include "backends/drm/drm_source.hpp"

#include <algorithm>
#include <array>
#include <bit>
#include <cerrno>

#include "backends/drm/discovery.hpp"
#include "backends/drm/driver.hpp"
#include "backends/shared/sysfs/attribute.hpp"
#include "model/failure.hpp"
#include "model/message_text.hpp"
#include "platform/clock.hpp"
#include "procfs/tree.hpp"
#include "source/registry.hpp"

namespace hmn::drm {
namespace {

std::string name_of(const Card& c) {
  const std::string_view folder = c.folder.view();
  const std::string_view address = c.pci_bus_id.view();
  return compose({address.empty() ? folder.substr(folder.rfind('/') + 1) : address, " (driver ",
                  c.driver_name.view(), ")"});
}

// Minimum age of the walk that percentages are relative to, if there is one.
constexpr std::uint64_t baseline_ns = platform::ns_per_second / 10;

Failure unseen(const Card& c) {
  return fail_by(c)(Status::unsupported,
                    "what uses this device is no DRM client; its vendor's library lists it");
}

Failure partly_reported(const Card& c) {
  return fail_by(c)(Status::unsupported,
                    "the driver reports it for a part of the process's memory only");
}

// Rounds up to a power of two, so that the sentence about a lasting state seldom changes.
std::uint64_t coarse_seconds(std::uint64_t ns) noexcept {
  return std::bit_ceil(ns / platform::ns_per_second + 1);
}

// Whether CAP_SYS_PTRACE would let the caller inspect more: it does not hold it, and may.
bool may_gain_tracing(const std::string& proc_root) {
  const auto own = procfs::own_rights(proc_root);
  return !own.is_in_user_namespace && !own.hold(procfs::Capability::sys_ptrace);
}

Failure why_no_load(const ClientList& in, const Card& of) {
  Failure why = needs_two_readings(of);
  for (const Client& c : in.all()) {
    if (c.key.card != of.number || c.key.by != ClientKey::Kind::none) continue;
    why.stated = Reason::unsupported;
    why.message = "the driver does not number its clients: their engine time cannot be compared";
  }
  return why;
}

// Row of a process whose descriptors were all seen, none of them of the device.
Usage nothing_used(std::uint32_t pid) {
  Usage none;
  none.pid = pid;
  none.accounting = Accounting::resident;
  none.used = none.resident = 0;
  return none;
}

// Diagnoses missing values of a device's rows.
void explain_rows(CardVisit& v, std::uint32_t about, FieldSet lacks, const ClientList& in) {
  if (!v.wants_diagnostics()) return;
  using namespace usage_field;
  const Card& c = v.of();
  const FieldSet load = lacks & busy_percent;
  if (lacks != load) v.diagnose(partly_reported(c), about, lacks & ~load);
  if (!c.counts_engines) v.diagnose(why_not_counted(c), about, busy_ns | busy_percent | kinds);
  if (load != 0) v.diagnose(why_no_load(in, c), about, load);
}

}  // namespace

DrmSource::DrmSource(const Settings& s)
    : DeviceSource(Source::drm, Calls::return_in_time),  // files of sysfs and /proc
      sys_root_(s.sys_root),
      proc_root_(s.proc_root),
      may_wake_(s.wake_devices),
      card_list_(s),
      scanner_(s.proc_root, s.rescan_ns, s.rescan_percent),
      rescan_percent_(s.rescan_percent),
      backoff_(s.idle_close_ns) {
  answer_for(card_list_.all_drivers());
}

void DrmSource::close() noexcept {
  scanner_.forget();
  walks_.before().clear();
  walks_.before().taken_ns = 0;
  engines_.forget();
  asked_.forget();
  was_listed_ = false;
}

Result<void> DrmSource::probe() {
  if (has_card(sys_root_)) return {};
  return fail(Status::no_source, "no DRM GPU here");
}

void DrmSource::list() {
  list_error_ = card_list_.refresh();
  // Descriptors of no known card may belong to a new one.
  const std::uint64_t cards = card_list_.fingerprint();
  if (cards != cards_) scanner_.forget();
  cards_ = cards;
  was_listed_ = was_listed_ || list_error_ == 0 || list_error_ == ENOENT;
}

Result<void> DrmSource::prepare(Reading&) {
  has_walked_ = false;
  ++reading_;
  if (was_listed_) {
    card_list_.refresh_states();
  } else {
    list();
  }
  if (may_wake_) return {};
  const std::uint64_t now = platform::monotonic_ns();
  for (const Card& c : card_list_.all()) {
    if (c.is_here) card_list_.leave_alone(c.number, backoff_.begin(c, now));
  }
  return {};
}

bool DrmSource::may_ask(const Card& c, bool keeps_awake) noexcept {
  rests_ = keeps_awake && c.is_resting;
  if (keeps_awake && !may_wake_) backoff_.asked(c);
  return !rests_;
}

// Unknown counts as active.
bool DrmSource::has_nothing_to_do(const Card& c, Reading& r) {
  CardVisit v(*this, c, r, CardVisit::quiet);
  hmn::Telemetry now;
  if (c.by->telemetry(v, telemetry_field::gpu_busy_percent, now) && now.gpu_busy_percent) {
    return *now.gpu_busy_percent <= 0 && (now.notes & note::lower_bound) == 0;
  }
  if (!c.by->sees_every_client(c)) return false;
  const Result<CardUse> use = v.clients();
  return use && use->clients == 0 && !use->is_partial;
}

// Backs off only without wake_devices: callers that allow waking expect fresh values.
bool DrmSource::finish(Reading& r) {
  if (may_wake_) return false;
  const std::uint64_t now = platform::monotonic_ns();
  for (const Card& c : card_list_.all()) {
    if (!card_list_.is_listed(c) || c.is_asleep || c.is_resting || !backoff_.is_due(c, now))
      continue;
    if (could_sleep(c) && has_nothing_to_do(c, r)) backoff_.start(c, now);
  }
  return false;
}

Device DrmSource::identity_of(const Card& c, Reading& r) {
  Device who;
  who.number = c.number;
  who.from = c.by->from();
  who.state = c.state_error != 0 ? State::unknown : c.is_asleep ? State::asleep : State::ready;
  who.vendor = c.vendor;
  who.pci_bus_id = c.pci_bus_id;
  who.pci_device = c.pci_device;
  who.pci_subsystem = c.pci_subsystem;
  if (const Node* const n = c.find(Node::Kind::render)) who.render_minor = n->number;
  CardVisit v(*this, c, r);
  c.by->identify(v, who);
  if (who.name.empty()) {
    v.diagnose(fail(Status::unsupported, "the kernel has no name for this device"),
               subject::devices, device_field::name);
  }
  return who;
}

void DrmSource::diagnose_hidden(const Card& c, Reading& r) const {
  if (!r.wants_diagnostics()) return;
  Diagnostic d;
  d.why = fail(Status::no_device, {name_of(c),
                                   " is in this machine, and no node of it in /dev: start the "
                                   "container with --device, or let udev make it"});
  d.about = subject::devices;
  r.diagnose(d);
}

Result<void> DrmSource::devices(std::vector<Device>& out, Reading& r) {
  list();
  if (list_error_ != 0 && list_error_ != ENOENT) {
    return sysfs::unreadable(Source::drm, list_error_, sys_root_, "class/drm");
  }
  for (const Card& c : card_list_.all()) {
    if (card_list_.is_listed(c)) out.push_back(identity_of(c, r));
    if (card_list_.is_hidden(c)) diagnose_hidden(c, r);
  }
  return {};
}

Failure DrmSource::why_asleep(const Card& c) {
  if (c.is_resting) {
    return fail_by(c)(
        Status::asleep,
        "an idle device is not read for a while, so that it can sleep; these are earlier values");
  }
  if (c.state_error != 0) {
    return sysfs::unreadable(c.by->from(), c.state_error, c.folder.view(), "power/runtime_status");
  }
  return fail_by(c)(Status::asleep, "the device is suspended, and this would wake it");
}

Result<void> DrmSource::find(Slot number, const Card*& out) const {
  out = card_list_.at(number);
  if (out == nullptr) return fail(Status::no_device, "no such card was listed");
  if (card_list_.is_listed(*out)) return {};
  return fail(Status::device_lost, {name_of(*out), " was here and is gone"});
}

Result<void> DrmSource::memory(Slot number, Pools& out, Reading& r) {
  const Card* c = nullptr;
  if (Result<void> ok = find(number, c); !ok) return ok;
  if (!may_ask(*c, c->by->keeps_awake(AwakeBy::memory))) return why_asleep(*c);
  CardVisit v(*this, *c, r);
  return c->by->memory(v, out);
}

Result<void> DrmSource::telemetry(Slot number, FieldSet fields, hmn::Telemetry& out, Reading& r) {
  const Card* c = nullptr;
  if (Result<void> ok = find(number, c); !ok) return ok;
  const bool is_reported = may_ask(*c, c->by->keeps_awake(AwakeBy::sensors));
  CardVisit v(*this, *c, r);
  if (!is_reported || v.is_asleep()) return why_asleep(*c);
  return c->by->telemetry(v, fields, out);
}

Result<void> DrmSource::metrics(Slot number, bool slow, std::vector<Metric>& out, Reading& r) {
  const Card* c = nullptr;
  if (Result<void> ok = find(number, c); !ok) return ok;
  const bool is_reported = may_ask(*c, c->by->keeps_awake(AwakeBy::sensors));
  CardVisit v(*this, *c, r);
  if (!is_reported || v.is_asleep()) return why_asleep(*c);
  c->by->metrics(v, slow, out);
  if (slow || has_walked_) add_engines(*c, out, r);
  return {};
}

// Uses this reading's walk; one of its own only if slow metrics are wanted, since a first walk
// scans every process.
void DrmSource::add_engines(const Card& c, std::vector<Metric>& out, Reading& r) {
  CardVisit v(*this, c, r);
  const Result<CardLoad> load = c.counts_engines ? v.load() : why_not_counted(c);
  if (load) return engines_.write(walks_.before(), c, *load, out);
  for (const MetricId id : {MetricId::engine_percent, MetricId::engine_busy_ns}) {
    v.diagnose(load.why(), subject::metrics, missing_metric(id));
  }
}

// Ready once cards were listed; a driver only if it has a card.
SourceState DrmSource::describe(Source which) const {
  SourceState now;
  now.why = {Status::ok, which, {}, {}};
  now.state = was_listed_ ? State::ready : State::unknown;
  if (which == Source::drm || !was_listed_) return now;
  for (const Card& c : card_list_.all()) {
    if (c.by == nullptr) continue;
    if (c.by->behind() == which) return c.by->describe_behind();
    if (c.by->from() == which) return now;
  }
  now.state = State::absent;
  now.why = FailureOf{which}(Status::no_source, "no card of this driver is here");
  return now;
}

Result<void> CardVisit::walk() {
  if (must_sleep(of_, in_.may_wake_)) {
    return fail_by(of_)(Status::asleep,
                        "the device is suspended, and asking what its clients use would wake it");
  }
  return in_.walk(reading_);
}

Result<CardUse> CardVisit::clients() {
  if (Result<void> ok = walk(); !ok) return ok.why();
  CardUse use = use_of(in_.walks_.now(), of_.number);
  use.is_partial = use.is_partial || !in_.seen_.is_complete();
  return use;
}

Result<CardLoad> CardVisit::load() {
  if (Result<void> ok = walk(); !ok) return ok.why();
  loads_of(in_.walks_.now(), in_.walks_.before(), of_.number, in_.loads_);
  const auto loads = in_.loads_.all();
  if (loads.empty()) return why_no_load();
  return CardLoad{loads, in_.walks_.now().taken_ns - in_.walks_.before().taken_ns,
                  !in_.seen_.is_complete()};
}

Failure CardVisit::why_no_load() const {
  bool has_clients = false;
  for (const Client& c : in_.walks_.now().all()) {
    if (c.key.card != of_.number) continue;
    if (c.engine_count != 0) return needs_two_readings(of_);
    has_clients = true;
  }
  if (has_clients) {
    return fail_by(of_)(Status::unsupported, "no client of the device reports engine time");
  }
  const bool may_be_missed = in_.seen_.unreadable != 0 || in_.seen_.is_hidden;
  return fail_by(of_)(may_be_missed ? Status::permission : Status::unsupported,
                      "no visible process uses the device");
}

void CardVisit::diagnose(const Failure& why, std::uint32_t about, FieldSet fields) {
  if (!wants_diagnostics()) return;
  Diagnostic d;
  d.why = why;
  d.about = about;
  d.field = fields;
  d.device = of_.number;
  reading_.diagnose(d);
}

Result<void> DrmSource::walk(Reading& r) {
  if (!has_walked_) {
    const std::uint64_t now = platform::monotonic_ns();
    if (walks_.now().taken_ns != 0 && now - walks_.now().taken_ns >= baseline_ns) {
      if (walks_.before().taken_ns != 0)
        engines_.keep(walks_.now(), walks_.before(), card_list_.all(), loads_);
      walks_.turn();
    }
    const Extent how = scanner_.suited_to(now);
    seen_ = scanner_.scan(card_list_, may_wake_, now, r.deadline_ns(), walks_.now(), how);
    has_walked_ = true;
    diagnose_coverage(r);
  }
  if (seen_.no_tree != 0) {
    Failure why = sysfs::unreadable(Source::drm, seen_.no_tree, proc_root_, "");
    if (seen_.no_tree == ENOENT) why.code = Status::no_source;
    why.message = {"the processes below ", proc_root_, " cannot be listed"};
    return why;
  }
  // The caller may inspect itself, which shows nothing of the others.
  const std::uint32_t others = seen_.processes - (seen_.has_own ? 1 : 0);
  const bool sees_none =
      others != 0 ? seen_.unreadable == others : seen_.is_hidden && seen_.has_own;
  if (!sees_none || !walks_.now().all().empty()) return {};
  if (others == 0) return why_hidden();
  return fail(
      is_refused(seen_.error) ? Status::permission : Status::limit,
      {"none of the ", others, seen_.has_own ? " other" : "", " processes can be inspected"},
      seen_.error);
}

Failure DrmSource::why_hidden() const {
  return fail(Status::permission,
              {proc_root_, " hides other users' processes (mount option hidepid)"});
}

void DrmSource::trace_walk(Reading& r) const {
  Diagnostic d;
  d.notes = note::trace;
  d.about = subject::processes;
  d.why = fail(Status::ok, {"walk over ", seen_.processes, " processes, ", seen_.remembered,
                            " of them looked through earlier"});
  if (seen_.remembered != 0) d.duration_ns = walks_.now().taken_ns - seen_.oldest_look;
  r.diagnose(d);
}

Failure DrmSource::why_not_reached() const {
  return fail(Status::timeout,
              {seen_.not_reached, " processes were not reached before the deadline"});
}

Failure DrmSource::why_unreadable() const {
  const bool refused = is_refused(seen_.error);
  return fail(refused ? Status::permission : Status::limit,
              {seen_.unreadable, " of ", seen_.processes,
               refused ? " processes cannot be inspected" : " processes could not be inspected",
               refused && may_gain_tracing(proc_root_)
                   ? "; CAP_SYS_PTRACE shows what those of other users use"
                   : ""},
              seen_.error);
}

// A process that may not be inspected counts as invisible; one that was missed does not.
Result<void> DrmSource::missed() const {
  if (seen_.not_reached != 0) return why_not_reached();
  if (seen_.unreadable != 0 && !is_refused(seen_.error)) return why_unreadable();
  return {};
}

void DrmSource::diagnose_coverage(Reading& r) const {
  if (r.wants_trace()) trace_walk(r);
  if (!r.wants_diagnostics() || seen_.is_complete()) return;
  Diagnostic d;
  d.about = subject::processes;
  d.unreadable_processes = seen_.unreadable;
  if (seen_.unreadable != 0) {
    d.why = why_unreadable();
    r.diagnose(d);
  }
  if (seen_.is_hidden) {
    d.unreadable_processes = 0;
    d.why = why_hidden();
    r.diagnose(d);
  }
  if (seen_.is_outdated || seen_.waiting != 0) {
    d.unreadable_processes = seen_.waiting;
    d.why = fail(Status::limit, {"some processes were searched for new clients up to ",
                                 coarse_seconds(walks_.now().taken_ns - seen_.oldest_look),
                                 " s ago: all of them take more than ", rescan_percent_,
                                 " % of a core (rescan_percent)"});
    r.diagnose(d);
  }
  if (seen_.not_reached == 0) return;
  d.unreadable_processes = seen_.not_reached;
  d.why = why_not_reached();
  r.diagnose(d);
}

void DrmSource::finish_row(const Card& c, Usage& row, Reading& r, std::uint32_t about,
                           int error) const {
  if (row.from == Source::none) row.from = c.by->from();
  if (row.used || !r.wants_diagnostics()) return;
  Diagnostic d;
  d.why = fail_by(c)(Status::unsupported, {c.by->why_no_use()});
  if (error == EBADMSG) {
    d.why.code = Status::backend;
    d.why.message = "what the driver prints of the process's clients is cut off or makes no sense";
    d.why.stated = Reason::not_understood;
  } else if (error != 0) {
    d.why = sysfs::unreadable(c.by->from(), error, sysfs::PathText{row.pid}.view(), "fdinfo");
  }
  d.about = about;
  d.field = usage_field::used;
  d.device = c.number;
  d.pid = row.pid;
  r.diagnose(d);
}

Result<void> DrmSource::processes(Slot number, std::vector<Usage>& out, Reading& r) {
  const Card* c = nullptr;
  if (Result<void> ok = find(number, c); !ok) return ok;
  may_ask(*c, c->by->keeps_awake(AwakeBy::clients));
  if (!c->by->sees_every_client(*c)) return unseen(*c);
  CardVisit v(*this, *c, r);
  const bool can_read = !must_sleep(*c, may_wake_);
  if (can_read) {
    if (Result<void> ok = walk(r); !ok) return ok;
    pids_on(walks_.now(), number, pids_);
    FieldSet lacks = 0;
    for (const std::uint32_t pid : pids_) {
      lacks |= fill_row(walks_.now(), walks_.before(), number, pid, out.emplace_back());
      out.back().from = c->by->from();
    }
    explain_rows(v, subject::processes, lacks, walks_.now());
  }
  const std::size_t from_fdinfo = out.size();
  Result<void> whole = c->by->complete(v, 0, out);
  if (!can_read && out.size() == from_fdinfo) return why_asleep(*c);
  if (!whole && !out.empty()) v.diagnose(whole.why(), subject::processes, 0);
  if (whole && can_read) whole = missed();
  for (Usage& row : out) {
    finish_row(*c, row, r, subject::processes, error_of(walks_.now(), number, row.pid));
  }
  return whole ? whole : mark_incomplete(out, whole.why());
}

const AskedProcess& DrmSource::walk_one(std::uint32_t pid, bool self) {
  AskedProcess& asked = asked_.of(pid, self);
  if (asked.reading == reading_) return asked;
  asked.begin(platform::monotonic_ns(), baseline_ns);
  std::array<char, 16> digits;
  const std::string_view who = self ? "self" : compose_in(digits, {pid});
  asked.error = scanner_.scan_one(who, pid, card_list_, may_wake_, asked.walks.now());
  asked.reading = reading_;
  return asked;
}

Failure DrmSource::why_not_listed(const Card& c, const AskedProcess& asked) const {
  if (asked.error != 0) {
    const bool refused = is_refused(asked.error);
    return fail(
        refused ? Status::permission : Status::limit,
        {"process ", asked.pid, refused ? " cannot be inspected" : " could not be inspected",
         refused && may_gain_tracing(proc_root_) ? "; CAP_SYS_PTRACE allows it" : ""},
        asked.error);
  }
  if (asked.walks.now().met_asleep(c.number)) return why_asleep(c);
  return fail_by(c)(Status::no_process,
                    {"process ", asked.pid, " holds no descriptor of this device"});
}

Result<void> DrmSource::process(Slot number, std::uint32_t pid, bool self, Usage& out, Reading& r) {
  const Card* c = nullptr;
  if (Result<void> ok = find(number, c); !ok) return ok;
  may_ask(*c, c->by->keeps_awake(AwakeBy::clients));
  if (!c->by->sees_every_client(*c)) return unseen(*c);
  return fill_one(*c, pid, self, out, r);
}

Result<void> DrmSource::fill_one(const Card& c, std::uint32_t pid, bool self, Usage& out,
                                 Reading& r) {
  const AskedProcess& asked = walk_one(pid, self);
  const int error = asked.error;
  if (error == ESRCH) {
    return fail(Status::no_process, {"there is no process ", pid, " below ", proc_root_});
  }
  std::vector<Usage>& rows = one_rows_;
  rows.clear();
  pids_on(asked.walks.now(), c.number, pids_);
  CardVisit v(*this, c, r);
  if (error == 0 && !pids_.empty()) {
    const bool is_newer = asked.walks.before().taken_ns > walks_.before().taken_ns;
    const ClientList& since = is_newer ? asked.walks.before() : walks_.before();
    const FieldSet lacks = fill_row(asked.walks.now(), since, c.number, pid, rows.emplace_back());
    explain_rows(v, self ? subject::self : subject::processes, lacks, asked.walks.now());
  } else if (error == 0 && self && !asked.walks.now().met_asleep(c.number)) {
    rows.push_back(nothing_used(pid));
  }
  const Result<void> whole = c.by->complete(v, pid, rows);
  const auto row = std::ranges::find_if(
      rows, [pid](const Usage& u) { return u.pid == pid && (u.notes & note::foreign_pid) == 0; });
  if (row == rows.end()) return whole ? why_not_listed(c, asked) : whole.why();
  out = std::move(*row);
  if (!whole) {
    v.diagnose(whole.why(), self ? subject::self : subject::processes, 0);
    note_incomplete(out);
  }
  finish_row(c, out, r, self ? subject::self : subject::processes,
             error_of(asked.walks.now(), c.number, pid));
  return {};
}

}  // namespace hmn::drm

namespace hmn {

std::unique_ptr<DeviceSource> make_drm(const Settings& s) {
  auto made = std::make_unique<drm::DrmSource>(s);
  if (!made->has_drivers()) return nullptr;
  return made;
}

}  // namespace hmn
