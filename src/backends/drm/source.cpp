// SPDX-License-Identifier: MIT OR Apache-2.0
#include "backends/drm/source.hpp"

#include <cerrno>

#include "backends/drm/discovery.hpp"
#include "backends/drm/driver.hpp"
#include "backends/shared/sysfs/attribute.hpp"
#include "model/compose.hpp"
#include "platform/clock.hpp"
#include "source/registry.hpp"

namespace hmn::drm {
namespace {

std::string name_of(const card& c) {
  const std::string_view folder = c.folder.view();
  const std::string_view address = c.pci_bus_id.view();
  return compose({address.empty() ? folder.substr(folder.rfind('/') + 1) : address, " (driver ",
                  c.driver_name.view(), ")"});
}

}  // namespace

drm_source::drm_source(const settings& s)
    : device_source(source::drm, calls::return_in_time),  // files of sysfs and /proc
      sys_root_(s.sys_root),
      proc_root_(s.proc_root),
      may_wake_(s.wake_devices),
      card_list_(s),
      scanner_(s.proc_root, s.rescan_ns, s.rescan_percent),
      rescan_percent_(s.rescan_percent),
      backoff_(s.idle_close_ns) {
  answer_for(card_list_.all_drivers());
}

void drm_source::close() noexcept {
  scanner_.forget();
  walks_.before().clear();
  walks_.before().taken_ns = 0;
  engines_.forget();
  asked_.forget();
  was_listed_ = false;
}

result<void> drm_source::probe() {
  if (has_card(sys_root_)) return {};
  return fail(status::no_source, "no DRM GPU here");
}

void drm_source::list() {
  list_error_ = card_list_.refresh();
  // Descriptors of no card may belong to a new one.
  const std::uint64_t cards = card_list_.fingerprint();
  if (cards != cards_) scanner_.forget();
  cards_ = cards;
  was_listed_ = was_listed_ || list_error_ == 0 || list_error_ == ENOENT;
}

result<void> drm_source::prepare(reading&) {
  has_walked_ = false;
  ++reading_;
  if (was_listed_) {
    card_list_.refresh_states();
  } else {
    list();
  }
  if (may_wake_) return {};
  const std::uint64_t now = platform::monotonic_ns();
  for (const card& c : card_list_.all()) {
    if (c.is_here) card_list_.leave_alone(c.number, backoff_.begin(c, now));
  }
  return {};
}

bool drm_source::may_ask(const card& c, bool keeps_awake) noexcept {
  rests_ = keeps_awake && c.is_resting;
  if (keeps_awake && !may_wake_) backoff_.asked(c);
  return !rests_;
}

// Unknown counts as active.
bool drm_source::has_nothing_to_do(const card& c, reading& r) {
  card_visit v(*this, c, r, card_visit::quiet);
  hmn::telemetry now;
  if (c.by->telemetry(v, telemetry_field::gpu_busy_percent, now) && now.gpu_busy_percent) {
    return *now.gpu_busy_percent <= 0 && (now.notes & note::lower_bound) == 0;
  }
  if (!c.by->sees_every_client(c)) return false;
  const result<card_use> use = v.clients();
  return use && use->clients == 0 && !use->is_partial;
}

// Backs off only without wake_devices: callers that allow waking expect fresh values.
bool drm_source::finish(reading& r) {
  if (may_wake_) return false;
  const std::uint64_t now = platform::monotonic_ns();
  for (const card& c : card_list_.all()) {
    if (!card_list_.is_listed(c) || c.is_asleep || c.is_resting || !backoff_.is_due(c, now))
      continue;
    if (could_sleep(c) && has_nothing_to_do(c, r)) backoff_.start(c, now);
  }
  return false;
}

device drm_source::identity_of(const card& c, reading& r) {
  device who;
  who.number = c.number;
  who.from = c.by->from();
  who.state = c.state_error != 0 ? state::unknown : c.is_asleep ? state::asleep : state::ready;
  who.vendor = c.vendor;
  who.pci_bus_id = c.pci_bus_id;
  who.pci_device = c.pci_device;
  who.pci_subsystem = c.pci_subsystem;
  if (const node* const n = c.find(node::kind::render)) who.render_minor = n->number;
  card_visit v(*this, c, r);
  c.by->identify(v, who);
  if (who.name.empty()) {
    v.diagnose(fail(status::unsupported, "the kernel has no name for this device"),
               subject::devices, device_field::name);
  }
  return who;
}

void drm_source::diagnose_hidden(const card& c, reading& r) const {
  if (!r.wants_diagnostics()) return;
  diagnostic d;
  d.why = fail(status::no_device, {name_of(c),
                                   " is in this machine, and no node of it in /dev: start the "
                                   "container with --device, or let udev make it"});
  d.about = subject::devices;
  r.diagnose(d);
}

result<void> drm_source::devices(std::vector<device>& out, reading& r) {
  list();
  if (list_error_ != 0 && list_error_ != ENOENT) {
    return sysfs::unreadable(source::drm, list_error_, sys_root_, "class/drm");
  }
  for (const card& c : card_list_.all()) {
    if (card_list_.is_listed(c)) out.push_back(identity_of(c, r));
    if (card_list_.is_hidden(c)) diagnose_hidden(c, r);
  }
  return {};
}

failure drm_source::why_asleep(const card& c) {
  if (c.is_resting) {
    return fail_by(c)(
        status::asleep,
        "an idle device is not read for a while, so that it can sleep; these are earlier values");
  }
  if (c.state_error != 0) {
    return sysfs::unreadable(c.by->from(), c.state_error, c.folder.view(), "power/runtime_status");
  }
  return fail_by(c)(status::asleep, "the device is suspended, and this would wake it");
}

result<void> drm_source::find(slot number, const card*& out) const {
  out = card_list_.at(number);
  if (out == nullptr) return fail(status::no_device, "no such card was listed");
  if (card_list_.is_listed(*out)) return {};
  return fail(status::device_lost, {name_of(*out), " was here and is gone"});
}

result<void> drm_source::memory(slot number, pools& out, reading& r) {
  const card* c = nullptr;
  if (result<void> ok = find(number, c); !ok) return ok;
  if (!may_ask(*c, c->by->keeps_awake(awake_by::memory))) return why_asleep(*c);
  card_visit v(*this, *c, r);
  return c->by->memory(v, out);
}

result<void> drm_source::telemetry(slot number, std::uint32_t fields, hmn::telemetry& out,
                                   reading& r) {
  const card* c = nullptr;
  if (result<void> ok = find(number, c); !ok) return ok;
  const bool is_reported = may_ask(*c, c->by->keeps_awake(awake_by::sensors));
  card_visit v(*this, *c, r);
  if (!is_reported || v.is_asleep()) return why_asleep(*c);
  return c->by->telemetry(v, fields, out);
}

result<void> drm_source::metrics(slot number, bool slow, std::vector<metric>& out, reading& r) {
  const card* c = nullptr;
  if (result<void> ok = find(number, c); !ok) return ok;
  const bool is_reported = may_ask(*c, c->by->keeps_awake(awake_by::sensors));
  card_visit v(*this, *c, r);
  if (!is_reported || v.is_asleep()) return why_asleep(*c);
  c->by->metrics(v, slow, out);
  if (slow || has_walked_) add_engines(*c, out, r);
  return {};
}

// Uses this reading's walk; one of its own only if slow metrics are wanted, since a first walk
// scans every process.
void drm_source::add_engines(const card& c, std::vector<metric>& out, reading& r) {
  card_visit v(*this, c, r);
  if (!c.counts_engines) {
    return v.diagnose(why_not_counted(c), subject::telemetry, 0);
  }
  const result<card_load> load = v.load();
  if (load) engines_.write(walks_.before(), c, *load, out);
  if (!load) v.diagnose(load.why(), subject::telemetry, 0);
}

// Ready once its cards were listed; a driver in it only if it has a card.
source_state drm_source::describe(source which) const {
  source_state now;
  now.why = {status::ok, which, {}, {}};
  now.state = was_listed_ ? state::ready : state::unknown;
  if (which == source::drm || !was_listed_) return now;
  for (const card& c : card_list_.all()) {
    if (c.by == nullptr) continue;
    if (c.by->behind() == which) return c.by->describe_behind();
    if (c.by->from() == which) return now;
  }
  now.state = state::absent;
  now.why = failure_of{which}(status::no_source, "no card of this driver is here");
  return now;
}

}  // namespace hmn::drm

namespace hmn {

std::unique_ptr<device_source> make_drm(const settings& s) {
  auto made = std::make_unique<drm::drm_source>(s);
  if (!made->has_drivers()) return nullptr;
  return made;
}

}  // namespace hmn

namespace hmn::drm {

result<void> card_visit::walk() {
  if (must_sleep(of_, in_.may_wake_)) {
    return fail_by(of_)(status::asleep,
                        "the device is suspended, and asking what its clients use would wake it");
  }
  return in_.walk(reading_);
}

result<card_use> card_visit::clients() {
  if (result<void> ok = walk(); !ok) return ok.why();
  card_use use = use_of(in_.walks_.now(), of_.number);
  use.is_partial = use.is_partial || !in_.seen_.is_complete();
  return use;
}

result<card_load> card_visit::load() {
  if (result<void> ok = walk(); !ok) return ok.why();
  loads_of(in_.walks_.now(), in_.walks_.before(), of_.number, in_.loads_);
  const auto loads = in_.loads_.all();
  if (loads.empty()) return why_no_load();
  return card_load{loads, in_.walks_.now().taken_ns - in_.walks_.before().taken_ns,
                   !in_.seen_.is_complete()};
}

failure card_visit::why_no_load() const {
  failure why = fail_by(of_)(status::unsupported, "no visible process uses the device");
  for (const client& c : in_.walks_.now().all()) {
    if (c.key.card != of_.number) continue;
    if (c.engine_count != 0) return needs_two_readings(of_);
    why.message = "no client of the device reports engine time";
  }
  return why;
}

void card_visit::diagnose(const failure& why, std::uint32_t about, std::uint32_t fields) {
  if (!wants_diagnostics()) return;
  diagnostic d;
  d.why = why;
  d.about = about;
  d.field = fields;
  d.device = of_.number;
  reading_.diagnose(d);
}

}  // namespace hmn::drm
