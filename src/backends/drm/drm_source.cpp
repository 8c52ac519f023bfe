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

std::string format_card_name(const Card& card) {
  const std::string_view folder = card.folder.view();
  const std::string_view address = card.pci_bus_id.view();
  return compose({address.empty() ? folder.substr(folder.rfind('/') + 1) : address, " (driver ",
                  card.driver_name.view(), ")"});
}

// Minimum age of the walk that percentages are relative to, if there is one.
constexpr std::uint64_t baseline_ns = platform::ns_per_second / 10;

Failure make_unseen_failure(const Card& card) {
  return fail_for(card)(
      Status::unsupported,
      "the users of this device are not DRM clients; its vendor's library lists them");
}

Failure make_partly_reported_failure(const Card& card) {
  return fail_for(card)(Status::unsupported,
                        "the driver reports it for a part of the process's memory only");
}

// Rounds up to a power of two, so that the sentence about a lasting state seldom changes.
std::uint64_t round_seconds(std::uint64_t ns) noexcept {
  return std::bit_ceil(ns / platform::ns_per_second + 1);
}

// Whether CAP_SYS_PTRACE would let the caller inspect more: it does not hold it, and may.
bool may_gain_tracing(const std::string& proc_root) {
  const auto rights = procfs::read_own_rights(proc_root);
  return !rights.is_in_user_namespace && !rights.has(procfs::Capability::sys_ptrace);
}

Failure make_no_load_failure(const ClientList& clients, const Card& card) {
  Failure failure = make_two_readings_failure(card);
  for (const Client& client : clients.all()) {
    if (client.key.card != card.slot || client.key.kind != ClientKey::Kind::none) continue;
    failure.reason = Reason::unsupported;
    failure.message =
        "the driver does not number its clients: their engine time cannot be compared";
  }
  return failure;
}

// Row of a process whose descriptors were all seen, none of them of the device.
Usage make_unused_row(std::uint32_t pid) {
  Usage row;
  row.pid = pid;
  row.accounting = Accounting::resident;
  row.used = row.resident = 0;
  return row;
}

// Diagnoses missing values of a device's rows.
void explain_rows(CardVisit& visit, std::uint32_t subject, FieldSet missing,
                  const ClientList& clients) {
  if (!visit.wants_diagnostics()) return;
  using namespace usage_field;
  const Card& card = visit.card();
  const FieldSet load = missing & busy_percent;
  if (missing != load) visit.diagnose(make_partly_reported_failure(card), subject, missing & ~load);
  if (!card.counts_engines)
    visit.diagnose(make_not_counted_failure(card), subject, busy_ns | busy_percent | kinds);
  if (load != 0) visit.diagnose(make_no_load_failure(clients, card), subject, load);
}

}  // namespace

DrmSource::DrmSource(const Settings& settings)
    : DeviceSource(Source::drm, CallBehavior::return_in_time),  // files of sysfs and /proc
      sys_root_(settings.sys_root),
      proc_root_(settings.proc_root),
      may_wake_(settings.wake_devices),
      card_list_(settings),
      scanner_(settings.proc_root, settings.rescan_ns, settings.rescan_percent),
      rescan_percent_(settings.rescan_percent),
      backoff_(settings.idle_close_ns) {
  add_answered_sources(card_list_.all_drivers());
}

void DrmSource::close() noexcept {
  scanner_.forget();
  walks_.baseline().clear();
  walks_.baseline().start_ns = 0;
  engines_.forget();
  queried_processes_.forget();
  was_listed_ = false;
}

Result<void> DrmSource::probe() {
  if (has_card(sys_root_)) return {};
  return fail(Status::no_source, "no DRM GPU here");
}

void DrmSource::list_cards() {
  list_error_ = card_list_.refresh();
  // Descriptors of no known card may belong to a new one.
  const std::uint64_t cards = card_list_.fingerprint();
  if (cards != cards_fingerprint_) scanner_.forget();
  cards_fingerprint_ = cards;
  was_listed_ = was_listed_ || list_error_ == 0 || list_error_ == ENOENT;
}

Result<void> DrmSource::prepare(Reading&) {
  has_walked_ = false;
  ++reading_;
  if (was_listed_) {
    card_list_.refresh_states();
  } else {
    list_cards();
  }
  if (may_wake_) return {};
  const std::uint64_t now = platform::monotonic_ns();
  for (const Card& card : card_list_.all()) {
    if (card.is_present) card_list_.set_skipped(card.slot, backoff_.begin(card, now));
  }
  return {};
}

bool DrmSource::begin_query(const Card& card, bool keeps_awake) noexcept {
  is_suspended_ = keeps_awake && card.is_skipped;
  if (keeps_awake && !may_wake_) backoff_.note_query(card);
  return !is_suspended_;
}

// Unknown counts as active.
bool DrmSource::is_idle(const Card& card, Reading& reading) {
  CardVisit visit(*this, card, reading, CardVisit::quiet);
  hmn::Telemetry now;
  if (card.driver->telemetry(visit, telemetry_field::gpu_busy_percent, now) &&
      now.gpu_busy_percent) {
    return *now.gpu_busy_percent <= 0 && (now.notes & note::lower_bound) == 0;
  }
  if (!card.driver->sees_every_client(card)) return false;
  const Result<CardUse> use = visit.clients();
  return use && use->client_count == 0 && !use->is_partial;
}

// Backs off only without wake_devices: callers that allow waking expect fresh values.
bool DrmSource::finish(Reading& reading) {
  if (may_wake_) return false;
  const std::uint64_t now = platform::monotonic_ns();
  for (const Card& card : card_list_.all()) {
    if (!card_list_.is_listed(card) || card.is_asleep || card.is_skipped ||
        !backoff_.is_due(card, now))
      continue;
    if (could_sleep(card) && is_idle(card, reading)) backoff_.start(card, now);
  }
  return false;
}

Device DrmSource::identify(const Card& card, Reading& reading) {
  Device device;
  device.slot = card.slot;
  device.source = card.driver->source();
  device.state = card.state_error != 0 ? State::unknown
                 : card.is_asleep      ? State::asleep
                                       : State::ready;
  device.vendor = card.vendor;
  device.pci_bus_id = card.pci_bus_id;
  device.pci_device = card.pci_device;
  device.pci_subsystem = card.pci_subsystem;
  if (const Node* const node = card.find(Node::Kind::render)) device.render_minor = node->number;
  CardVisit visit(*this, card, reading);
  card.driver->identify(visit, device);
  if (device.name.empty()) {
    visit.diagnose(fail(Status::unsupported, "the kernel has no name for this device"),
                   subject::devices, device_field::name);
  }
  return device;
}

void DrmSource::diagnose_hidden(const Card& card, Reading& reading) const {
  if (!reading.wants_diagnostics()) return;
  Diagnostic diagnostic;
  diagnostic.failure =
      fail(Status::no_device, {format_card_name(card),
                               " is in this machine, and no node of it in /dev: start the "
                               "container with --device, or let udev make it"});
  diagnostic.subject = subject::devices;
  reading.diagnose(diagnostic);
}

Result<void> DrmSource::devices(std::vector<Device>& out, Reading& reading) {
  list_cards();
  if (list_error_ != 0 && list_error_ != ENOENT) {
    return sysfs::make_file_failure(Source::drm, list_error_, sys_root_, "class/drm");
  }
  for (const Card& card : card_list_.all()) {
    if (card_list_.is_listed(card)) out.push_back(identify(card, reading));
    if (card_list_.is_hidden(card)) diagnose_hidden(card, reading);
  }
  return {};
}

Failure DrmSource::make_asleep_failure(const Card& card) {
  if (card.is_skipped) {
    return fail_for(card)(
        Status::asleep,
        "an idle device is not read for a while, so that it can sleep; these are earlier values");
  }
  if (card.state_error != 0) {
    return sysfs::make_file_failure(card.driver->source(), card.state_error, card.folder.view(),
                                    "power/runtime_status");
  }
  return fail_for(card)(Status::asleep, "the device is suspended, and this would wake it");
}

Result<void> DrmSource::find(Slot slot, const Card*& card) const {
  card = card_list_.at(slot);
  if (card == nullptr) return fail(Status::no_device, "no such card was listed");
  if (card_list_.is_listed(*card)) return {};
  return fail(Status::device_lost, {format_card_name(*card), " was here and is gone"});
}

Result<void> DrmSource::memory(Slot slot, PoolList& out, Reading& reading) {
  const Card* card = nullptr;
  if (Result<void> ok = find(slot, card); !ok) return ok;
  if (!begin_query(*card, card->driver->keeps_awake(QueryKind::memory)))
    return make_asleep_failure(*card);
  CardVisit visit(*this, *card, reading);
  return card->driver->memory(visit, out);
}

Result<void> DrmSource::telemetry(Slot slot, FieldSet fields, hmn::Telemetry& out,
                                  Reading& reading) {
  const Card* card = nullptr;
  if (Result<void> ok = find(slot, card); !ok) return ok;
  const bool is_reported = begin_query(*card, card->driver->keeps_awake(QueryKind::sensors));
  CardVisit visit(*this, *card, reading);
  if (!is_reported || visit.is_asleep()) return make_asleep_failure(*card);
  return card->driver->telemetry(visit, fields, out);
}

Result<void> DrmSource::metrics(Slot slot, bool include_slow, std::vector<Metric>& out,
                                Reading& reading) {
  const Card* card = nullptr;
  if (Result<void> ok = find(slot, card); !ok) return ok;
  const bool is_reported = begin_query(*card, card->driver->keeps_awake(QueryKind::sensors));
  CardVisit visit(*this, *card, reading);
  if (!is_reported || visit.is_asleep()) return make_asleep_failure(*card);
  card->driver->metrics(visit, include_slow, out);
  if (include_slow || has_walked_) add_engines(*card, out, reading);
  return {};
}

// Uses this reading's walk; one of its own only if slow metrics are wanted, since a first walk
// scans every process.
void DrmSource::add_engines(const Card& card, std::vector<Metric>& out, Reading& reading) {
  CardVisit visit(*this, card, reading);
  const Result<CardLoad> load = card.counts_engines ? visit.load() : make_not_counted_failure(card);
  if (load) return engines_.write(walks_.baseline(), card, *load, out);
  for (const MetricId id : {MetricId::engine_percent, MetricId::engine_busy_ns}) {
    visit.diagnose(load.failure(), subject::metrics, missing_metric(id));
  }
}

// Ready once cards were listed; a driver only if it has a card.
SourceState DrmSource::describe(Source source) const {
  SourceState result;
  result.failure = {Status::ok, source, {}, {}};
  result.state = was_listed_ ? State::ready : State::unknown;
  if (source == Source::drm || !was_listed_) return result;
  for (const Card& card : card_list_.all()) {
    if (card.driver == nullptr) continue;
    if (card.driver->inner_source() == source) return card.driver->describe_inner_source();
    if (card.driver->source() == source) return result;
  }
  result.state = State::absent;
  result.failure = FailureFactory{source}(Status::no_source, "no card of this driver is here");
  return result;
}

Result<void> CardVisit::walk() {
  if (must_not_wake(card_, source_.may_wake_)) {
    return fail_for(card_)(
        Status::asleep, "the device is suspended, and asking what its clients use would wake it");
  }
  return source_.walk(reading_);
}

Result<CardUse> CardVisit::clients() {
  if (Result<void> ok = walk(); !ok) return ok.failure();
  CardUse use = sum_card_use(source_.walks_.newest(), card_.slot);
  use.is_partial = use.is_partial || !source_.coverage_.is_complete();
  return use;
}

Result<CardLoad> CardVisit::load() {
  if (Result<void> ok = walk(); !ok) return ok.failure();
  compute_loads(source_.walks_.newest(), source_.walks_.baseline(), card_.slot, source_.loads_);
  const auto loads = source_.loads_.all();
  if (loads.empty()) return make_no_load_failure();
  return CardLoad{loads, source_.walks_.newest().start_ns - source_.walks_.baseline().start_ns,
                  !source_.coverage_.is_complete()};
}

Failure CardVisit::make_no_load_failure() const {
  bool has_clients = false;
  for (const Client& client : source_.walks_.newest().all()) {
    if (client.key.card != card_.slot) continue;
    if (client.engine_count != 0) return make_two_readings_failure(card_);
    has_clients = true;
  }
  if (has_clients) {
    return fail_for(card_)(Status::unsupported, "no client of the device reports engine time");
  }
  const bool may_be_missed = source_.coverage_.unreadable != 0 || source_.coverage_.hides_others;
  return fail_for(card_)(may_be_missed ? Status::permission : Status::unsupported,
                         "no visible process uses the device");
}

void CardVisit::diagnose(const Failure& failure, std::uint32_t subject, FieldSet fields) {
  if (!wants_diagnostics()) return;
  Diagnostic diagnostic;
  diagnostic.failure = failure;
  diagnostic.subject = subject;
  diagnostic.field = fields;
  diagnostic.device = card_.slot;
  reading_.diagnose(diagnostic);
}

Result<void> DrmSource::walk(Reading& reading) {
  if (!has_walked_) {
    const std::uint64_t now = platform::monotonic_ns();
    if (walks_.newest().start_ns != 0 && now - walks_.newest().start_ns >= baseline_ns) {
      if (walks_.baseline().start_ns != 0)
        engines_.accumulate(walks_.newest(), walks_.baseline(), card_list_.all(), loads_);
      walks_.rotate();
    }
    const ScanScope scope = scanner_.choose_scope(now);
    coverage_ =
        scanner_.scan(card_list_, may_wake_, now, reading.deadline_ns(), walks_.newest(), scope);
    has_walked_ = true;
    diagnose_coverage(reading);
  }
  if (coverage_.tree_error != 0) {
    Failure failure = sysfs::make_file_failure(Source::drm, coverage_.tree_error, proc_root_, "");
    if (coverage_.tree_error == ENOENT) failure.code = Status::no_source;
    failure.message = {"the processes below ", proc_root_, " cannot be listed"};
    return failure;
  }
  // The caller may inspect itself, which shows nothing of the others.
  const std::uint32_t others = coverage_.processes - (coverage_.has_own ? 1 : 0);
  const bool sees_none =
      others != 0 ? coverage_.unreadable == others : coverage_.hides_others && coverage_.has_own;
  if (!sees_none || !walks_.newest().all().empty()) return {};
  if (others == 0) return make_hidden_failure();
  return fail(
      is_refused(coverage_.error) ? Status::permission : Status::limit,
      {"none of the ", others, coverage_.has_own ? " other" : "", " processes can be inspected"},
      coverage_.error);
}

Failure DrmSource::make_hidden_failure() const {
  return fail(Status::permission,
              {proc_root_, " hides other users' processes (mount option hidepid)"});
}

void DrmSource::trace_walk(Reading& reading) const {
  Diagnostic diagnostic;
  diagnostic.notes = note::trace;
  diagnostic.subject = subject::processes;
  diagnostic.failure = fail(Status::ok, {"walk over ", coverage_.processes, " processes, ",
                                         coverage_.remembered, " of them looked through earlier"});
  if (coverage_.remembered != 0)
    diagnostic.duration_ns = walks_.newest().start_ns - coverage_.oldest_search_ns;
  reading.diagnose(diagnostic);
}

Failure DrmSource::make_not_reached_failure() const {
  return fail(Status::timeout,
              {coverage_.not_reached, " processes were not reached before the deadline"});
}

Failure DrmSource::make_unreadable_failure() const {
  const bool refused = is_refused(coverage_.error);
  return fail(refused ? Status::permission : Status::limit,
              {coverage_.unreadable, " of ", coverage_.processes,
               refused ? " processes cannot be inspected" : " processes could not be inspected",
               refused && may_gain_tracing(proc_root_)
                   ? "; CAP_SYS_PTRACE shows what those of other users use"
                   : ""},
              coverage_.error);
}

// A process that may not be inspected counts as invisible; one that was missed does not.
Result<void> DrmSource::check_missed() const {
  if (coverage_.not_reached != 0) return make_not_reached_failure();
  if (coverage_.unreadable != 0 && !is_refused(coverage_.error)) return make_unreadable_failure();
  return {};
}

void DrmSource::diagnose_coverage(Reading& reading) const {
  if (reading.wants_trace()) trace_walk(reading);
  if (!reading.wants_diagnostics() || coverage_.is_complete()) return;
  Diagnostic diagnostic;
  diagnostic.subject = subject::processes;
  diagnostic.unreadable_processes = coverage_.unreadable;
  if (coverage_.unreadable != 0) {
    diagnostic.failure = make_unreadable_failure();
    reading.diagnose(diagnostic);
  }
  if (coverage_.hides_others) {
    diagnostic.unreadable_processes = 0;
    diagnostic.failure = make_hidden_failure();
    reading.diagnose(diagnostic);
  }
  if (coverage_.is_outdated || coverage_.waiting != 0) {
    diagnostic.unreadable_processes = coverage_.waiting;
    diagnostic.failure =
        fail(Status::limit, {"some processes were searched for new clients up to ",
                             round_seconds(walks_.newest().start_ns - coverage_.oldest_search_ns),
                             " s ago: all of them take more than ", rescan_percent_,
                             " % of a core (rescan_percent)"});
    reading.diagnose(diagnostic);
  }
  if (coverage_.not_reached == 0) return;
  diagnostic.unreadable_processes = coverage_.not_reached;
  diagnostic.failure = make_not_reached_failure();
  reading.diagnose(diagnostic);
}

void DrmSource::finish_row(const Card& card, Usage& row, Reading& reading, std::uint32_t subject,
                           int error) const {
  if (row.source == Source::none) row.source = card.driver->source();
  if (row.used || !reading.wants_diagnostics()) return;
  Diagnostic diagnostic;
  diagnostic.failure = fail_for(card)(Status::unsupported, {card.driver->missing_use_message()});
  if (error == EBADMSG) {
    diagnostic.failure.code = Status::backend;
    diagnostic.failure.message =
        "the driver's output about the process's clients is truncated or malformed";
    diagnostic.failure.reason = Reason::not_understood;
  } else if (error != 0) {
    diagnostic.failure = sysfs::make_file_failure(card.driver->source(), error,
                                                  sysfs::PathText{row.pid}.view(), "fdinfo");
  }
  diagnostic.subject = subject;
  diagnostic.field = usage_field::used;
  diagnostic.device = card.slot;
  diagnostic.pid = row.pid;
  reading.diagnose(diagnostic);
}

Result<void> DrmSource::processes(Slot slot, std::vector<Usage>& out, Reading& reading) {
  const Card* card = nullptr;
  if (Result<void> ok = find(slot, card); !ok) return ok;
  begin_query(*card, card->driver->keeps_awake(QueryKind::clients));
  if (!card->driver->sees_every_client(*card)) return make_unseen_failure(*card);
  CardVisit visit(*this, *card, reading);
  const bool can_read = !must_not_wake(*card, may_wake_);
  if (can_read) {
    if (Result<void> ok = walk(reading); !ok) return ok;
    find_card_pids(walks_.newest(), slot, pids_);
    FieldSet missing = 0;
    for (const std::uint32_t pid : pids_) {
      missing |= fill_row(walks_.newest(), walks_.baseline(), slot, pid, out.emplace_back());
      out.back().source = card->driver->source();
    }
    explain_rows(visit, subject::processes, missing, walks_.newest());
  }
  const std::size_t fdinfo_row_count = out.size();
  Result<void> outcome = card->driver->complete_rows(visit, 0, out);
  if (!can_read && out.size() == fdinfo_row_count) return make_asleep_failure(*card);
  if (!outcome && !out.empty()) visit.diagnose(outcome.failure(), subject::processes, 0);
  if (outcome && can_read) outcome = check_missed();
  for (Usage& row : out) {
    finish_row(*card, row, reading, subject::processes, find_error(walks_.newest(), slot, row.pid));
  }
  return outcome ? outcome : mark_incomplete(out, outcome.failure());
}

const QueriedProcess& DrmSource::walk_process(std::uint32_t pid, bool is_self) {
  QueriedProcess& process = queried_processes_.find_or_add(pid, is_self);
  if (process.reading == reading_) return process;
  process.begin(platform::monotonic_ns(), baseline_ns);
  std::array<char, 16> digits;
  const std::string_view name = is_self ? "self" : compose_into(digits, {pid});
  process.error = scanner_.scan_process(name, pid, card_list_, may_wake_, process.walks.newest());
  process.reading = reading_;
  return process;
}

Failure DrmSource::make_not_listed_failure(const Card& card, const QueriedProcess& process) const {
  if (process.error != 0) {
    const bool refused = is_refused(process.error);
    return fail(
        refused ? Status::permission : Status::limit,
        {"process ", process.pid, refused ? " cannot be inspected" : " could not be inspected",
         refused && may_gain_tracing(proc_root_) ? "; CAP_SYS_PTRACE allows it" : ""},
        process.error);
  }
  if (process.walks.newest().has_asleep(card.slot)) return make_asleep_failure(card);
  return fail_for(card)(Status::no_process,
                        {"process ", process.pid, " holds no descriptor of this device"});
}

Result<void> DrmSource::process(Slot slot, std::uint32_t pid, bool is_self, Usage& out,
                                Reading& reading) {
  const Card* card = nullptr;
  if (Result<void> ok = find(slot, card); !ok) return ok;
  begin_query(*card, card->driver->keeps_awake(QueryKind::clients));
  if (!card->driver->sees_every_client(*card)) return make_unseen_failure(*card);
  return fill_process(*card, pid, is_self, out, reading);
}

Result<void> DrmSource::fill_process(const Card& card, std::uint32_t pid, bool is_self, Usage& out,
                                     Reading& reading) {
  const QueriedProcess& process = walk_process(pid, is_self);
  const int error = process.error;
  if (error == ESRCH) {
    return fail(Status::no_process, {"there is no process ", pid, " below ", proc_root_});
  }
  std::vector<Usage>& rows = process_rows_;
  rows.clear();
  find_card_pids(process.walks.newest(), card.slot, pids_);
  CardVisit visit(*this, card, reading);
  if (error == 0 && !pids_.empty()) {
    const bool is_newer = process.walks.baseline().start_ns > walks_.baseline().start_ns;
    const ClientList& baseline = is_newer ? process.walks.baseline() : walks_.baseline();
    const FieldSet missing =
        fill_row(process.walks.newest(), baseline, card.slot, pid, rows.emplace_back());
    explain_rows(visit, is_self ? subject::self : subject::processes, missing,
                 process.walks.newest());
  } else if (error == 0 && is_self && !process.walks.newest().has_asleep(card.slot)) {
    rows.push_back(make_unused_row(pid));
  }
  const Result<void> outcome = card.driver->complete_rows(visit, pid, rows);
  const auto row = std::ranges::find_if(
      rows, [pid](const Usage& u) { return u.pid == pid && (u.notes & note::foreign_pid) == 0; });
  if (row == rows.end())
    return outcome ? make_not_listed_failure(card, process) : outcome.failure();
  out = std::move(*row);
  if (!outcome) {
    visit.diagnose(outcome.failure(), is_self ? subject::self : subject::processes, 0);
    mark_lower_bound(out);
  }
  finish_row(card, out, reading, is_self ? subject::self : subject::processes,
             find_error(process.walks.newest(), card.slot, pid));
  return {};
}

}  // namespace hmn::drm

namespace hmn {

std::unique_ptr<DeviceSource> make_drm(const Settings& settings) {
  auto source = std::make_unique<drm::DrmSource>(settings);
  if (!source->has_drivers()) return nullptr;
  return source;
}

}  // namespace hmn
