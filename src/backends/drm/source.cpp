// SPDX-License-Identifier: MIT OR Apache-2.0
#include "backends/drm/source.hpp"

#include <algorithm>
#include <cerrno>

#include "backends/drm/card_visit.hpp"
#include "backends/drm/discovery.hpp"
#include "backends/drm/drm.hpp"
#include "backends/drm/fail.hpp"
#include "model/compose.hpp"
#include "platform/clock.hpp"

namespace hmn::drm {
namespace {

constexpr std::uint64_t rescan_ns = 2 * platform::ns_per_second;
// A first card that is plugged in may be seen this late: a listing would cost a reading of the
// host's memory more than that itself.
constexpr std::uint64_t recheck_ns = platform::ns_per_second;
// Percentages are taken against a walk at least this old, where there is one.
constexpr std::uint64_t baseline_ns = platform::ns_per_second / 10;

failure asleep(const card& c) {
  return {status::asleep,
          c.by->from(),
          {},
          "the device is suspended, and this would wake it; allow waking to read it"};
}

// Of a process whose descriptors were all seen, and none is of the device.
usage nothing_used(std::uint32_t pid) {
  usage none;
  none.pid = pid;
  none.accounting = accounting::resident;
  none.used = none.resident = 0;
  return none;
}

std::string name_of(const card& c) {
  const std::string_view folder = c.folder.view();
  return compose({folder.substr(folder.rfind('/') + 1), " (driver ", c.driver_name.view(), ")"});
}

}  // namespace

drm_source::drm_source(const settings& s)
    : sys_root_(s.sys_root),
      proc_root_(s.proc_root),
      may_wake_(s.wake_devices),
      roster_(s),
      scanner_(s.proc_root, rescan_ns) {}

void drm_source::close() noexcept {
  scanner_.forget();
  before_.clear();
  before_.taken_ns = 0;
  was_listed_ = false;
}

result<void> drm_source::probe() {
  const std::uint64_t now = platform::monotonic_ns();
  const bool is_fresh = none_at_ns_ != 0 && now - none_at_ns_ < recheck_ns;
  if (!is_fresh) none_at_ns_ = has_card(sys_root_) ? 0 : now;
  if (none_at_ns_ == 0) return {};
  // Short enough to be made without an allocation: this is asked in each reading.
  return fail(status::no_source, "no DRM GPU here");
}

void drm_source::list() {
  list_error_ = roster_.refresh();
  was_listed_ = true;
}

result<void> drm_source::prepare(reading&) {
  has_walked_ = false;
  if (was_listed_) {
    roster_.refresh_states();
  } else {
    list();
  }
  return {};
}

device drm_source::identity_of(const card& c, reading& r) {
  device who;
  who.number = c.number;
  who.from = c.by->from();
  who.state = c.is_asleep ? state::asleep : state::ready;
  who.vendor = c.vendor;
  who.pci_bus_id = c.pci_bus_id;
  who.pci_device = c.pci_device;
  who.pci_subsystem = c.pci_subsystem;
  if (const node* const n = c.find(node::kind::render)) who.render_minor = n->number;
  card_visit v(*this, c, r);
  c.by->identify(v, who);
  if (who.name.empty()) {
    v.remark(fail(status::unsupported, "the kernel has no name for this device"), subject::devices,
             device_field::name);
  }
  return who;
}

void drm_source::remark_hidden(const card& c, reading& r) const {
  if (!r.wants_remarks()) return;
  diagnostic d;
  d.why = fail(status::no_device,
               compose({name_of(c),
                        " is in this machine, and no node of it in /dev: it was not given to this "
                        "container; start it with --device, or let udev make the node"}));
  d.about = subject::devices;
  r.remark(std::move(d));
}

result<void> drm_source::devices(std::vector<device>& out, reading& r) {
  list();
  if (list_error_ != 0 && list_error_ != ENOENT) {
    return fail(list_error_ == EACCES ? status::permission : status::backend,
                compose({sys_root_, "/class/drm cannot be listed"}), list_error_);
  }
  for (const card& c : roster_.all()) {
    if (roster_.is_listed(c)) out.push_back(identity_of(c, r));
    if (roster_.is_hidden(c)) remark_hidden(c, r);
  }
  return {};
}

result<void> drm_source::find(slot number, const card*& out) const {
  out = roster_.at(number);
  if (out == nullptr) return fail(status::no_device, "no such card was listed");
  if (roster_.is_listed(*out)) return {};
  return fail(status::device_lost, compose({name_of(*out), " was here and is gone"}));
}

result<void> drm_source::memory(slot number, pools& out, reading& r) {
  const card* c = nullptr;
  if (result<void> ok = find(number, c); !ok) return ok;
  card_visit v(*this, *c, r);
  return c->by->memory(v, out);
}

result<void> drm_source::telemetry(slot number, std::uint32_t fields, hmn::telemetry& out,
                                   reading& r) {
  const card* c = nullptr;
  if (result<void> ok = find(number, c); !ok) return ok;
  card_visit v(*this, *c, r);
  if (v.is_asleep()) return asleep(*c);
  return c->by->telemetry(v, fields, out);
}

result<void> drm_source::walk(reading& r) {
  if (!has_walked_) {
    const std::uint64_t now = platform::monotonic_ns();
    if (now_.taken_ns != 0 && now - now_.taken_ns >= baseline_ns) std::swap(before_, now_);
    seen_ = scanner_.scan(roster_, may_wake_, now, r.deadline_ns(), now_);
    has_walked_ = true;
    remark_coverage(r);
  }
  if (seen_.no_tree != 0) {
    return fail(seen_.no_tree == ENOENT ? status::no_source : status::permission,
                compose({"the processes below ", proc_root_, " cannot be listed"}), seen_.no_tree);
  }
  return {};
}

void drm_source::remark_coverage(reading& r) const {
  if (!r.wants_remarks() || seen_.is_complete()) return;
  diagnostic d;
  d.about = subject::processes;
  d.unreadable_processes = seen_.unreadable;
  if (seen_.unreadable != 0) {
    const bool refused = seen_.error == EACCES || seen_.error == EPERM;
    d.why = fail(refused ? status::permission : status::limit,
                 compose({seen_.unreadable, " of ", seen_.processes,
                          refused ? " processes may not be looked into; CAP_SYS_PTRACE shows what "
                                    "those of other users use"
                                  : " processes could not be looked into"}),
                 seen_.error);
    r.remark(d);
  }
  if (seen_.not_reached == 0) return;
  d.unreadable_processes = seen_.not_reached;
  d.why = fail(status::timeout,
               compose({seen_.not_reached, " processes were not reached before the deadline"}));
  r.remark(std::move(d));
}

void drm_source::finish_row(const card& c, usage& row, reading& r, std::uint32_t about) const {
  row.from = c.by->from();
  if (row.used || !r.wants_remarks()) return;
  diagnostic d;
  d.why = {status::unsupported, c.by->from(), {}, std::string(c.by->why_no_use())};
  d.about = about;
  d.field = usage_field::used;
  d.device = c.number;
  d.pid = row.pid;
  r.remark(std::move(d));
}

result<void> drm_source::processes(slot number, std::vector<usage>& out, reading& r) {
  const card* c = nullptr;
  if (result<void> ok = find(number, c); !ok) return ok;
  card_visit v(*this, *c, r);
  const bool can_read = !must_sleep(*c, may_wake_);
  if (can_read) {
    if (result<void> ok = walk(r); !ok) return ok;
    pids_on(now_, number, pids_);
    for (const std::uint32_t pid : pids_) {
      fill_row(now_, before_, number, pid, out.emplace_back());
      out.back().from = c->by->from();
    }
  }
  const std::size_t from_fdinfo = out.size();
  c->by->complete(v, out);
  if (!can_read && out.size() == from_fdinfo) return asleep(*c);
  for (usage& row : out) finish_row(*c, row, r, subject::processes);
  return {};
}

failure drm_source::why_not_listed(const card& c, std::uint32_t pid) const {
  return {status::no_process,
          c.by->from(),
          {},
          compose({"process ", pid, " holds no descriptor of this device"})};
}

result<void> drm_source::process(slot number, std::uint32_t pid, bool self, usage& out,
                                 reading& r) {
  const card* c = nullptr;
  if (result<void> ok = find(number, c); !ok) return ok;
  return fill_one(*c, pid, self, out, r);
}

result<void> drm_source::fill_one(const card& c, std::uint32_t pid, bool self, usage& out,
                                  reading& r) {
  std::array<char, 16> digits;
  const std::string_view who = self ? "self" : compose_in(digits, {pid});
  const int error = scanner_.scan_one(who, pid, roster_, may_wake_, one_);
  if (error == ESRCH) {
    return fail(status::no_process, compose({"there is no process ", pid, " below ", proc_root_}));
  }
  if (error != 0) {
    return fail(error == EACCES || error == EPERM ? status::permission : status::limit,
                compose({"process ", pid, " may not be looked into; CAP_SYS_PTRACE allows it"}),
                error);
  }
  if (scanner_.met_asleep(c.number)) return asleep(c);
  std::vector<usage> rows;
  pids_on(one_, c.number, pids_);
  if (!pids_.empty()) {
    fill_row(one_, before_, c.number, pid, rows.emplace_back());
  } else if (self) {
    rows.push_back(nothing_used(pid));
  }
  card_visit v(*this, c, r);
  c.by->complete(v, rows);
  const auto row =
      std::find_if(rows.begin(), rows.end(), [pid](const usage& u) { return u.pid == pid; });
  if (row == rows.end()) return why_not_listed(c, pid);
  out = std::move(*row);
  finish_row(c, out, r, self ? subject::self : subject::processes);
  return {};
}

source_state drm_source::describe() const {
  source_state now;
  now.why = {status::ok, source::drm, {}, {}};
  now.state = was_listed_ ? state::ready : state::unknown;
  return now;
}

}  // namespace hmn::drm

namespace hmn {

std::unique_ptr<device_source> make_drm(const settings& s) {
  return std::make_unique<drm::drm_source>(s);
}

}  // namespace hmn
