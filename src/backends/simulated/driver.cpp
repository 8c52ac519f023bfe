// SPDX-License-Identifier: MIT OR Apache-2.0
#include "backends/simulated/driver.hpp"

#include <algorithm>
#include <string>
#include <utility>

#include "model/record.hpp"
#include "platform/clock.hpp"
#include "platform/file.hpp"
#include "platform/process.hpp"

namespace hmn::simulated {
namespace {

constexpr std::uint64_t look_every_ns = 2 * platform::ns_per_ms;

bool covers(call rule, call on) {
  const bool is_driver_call = on >= call::open && on <= call::metrics;
  return rule == on || (rule == call::any && is_driver_call);
}

void wait_through(const delay& d) {
  platform::sleep_ns(d.ns);
  while (d.forever) platform::sleep_ns(platform::ns_per_second);
  while (!d.until.empty() && !platform::exists(d.until.c_str())) platform::sleep_ns(look_every_ns);
}

}  // namespace

void wait_for(const conduct& c, call on, std::uint64_t reading) {
  for (const delay& d : c.delays) {
    if (covers(d.on, on) && d.when.holds(reading)) wait_through(d);
  }
}

const fault* whole_fault(const conduct& c, call on, std::uint64_t reading) noexcept {
  for (const fault& it : c.faults) {
    if (covers(it.on, on) && it.fields == 0 && it.when.holds(reading)) return &it;
  }
  return nullptr;
}

namespace {

std::uint32_t subject_of(call what) {
  switch (what) {
    case call::pools:
      return subject::pools;
    case call::telemetry:
      return subject::telemetry;
    case call::self:
      return subject::self;
    case call::process:
    case call::processes:
      return subject::processes;
    case call::metrics:
      return subject::metrics;
    default:
      return subject::devices;
  }
}

const char* name_of(call what) {
  switch (what) {
    case call::open:
      return "open";
    case call::pools:
      return "pools";
    case call::telemetry:
      return "telemetry";
    case call::self:
      return "self";
    case call::process:
      return "process";
    case call::processes:
      return "processes";
    case call::metrics:
      return "metrics";
    default:
      return "devices";
  }
}

diagnostic diagnostic_on(call what, const described_device* d, const failure& why) {
  diagnostic entry;
  entry.why = why;
  entry.about = subject_of(what);
  if (d != nullptr) entry.device = d->identity.number;
  return entry;
}

void diagnose_fields(call what, const described_device& d, FieldSet fields, const failure& why,
                     reading& r) {
  diagnostic entry = diagnostic_on(what, &d, why);
  entry.field = fields;
  r.diagnose(entry);
}

failure why_missing(const described_row& row) {
  if (row.missing != nullptr) return *row.missing;
  return refusal(status::unsupported, "the machine file gives no value for this process");
}

void diagnose_row(call what, const described_device& d, const described_row& row, reading& r) {
  diagnostic entry = diagnostic_on(what, &d, why_missing(row));
  entry.field = usage_field::used;
  entry.pid = row.value.pid;
  r.diagnose(entry);
}

void trace(call what, const described_device* d, const result<void>& outcome,
           std::uint64_t began_ns, reading& r) {
  failure why = outcome ? refusal(status::ok, "") : outcome.why();
  why.message = std::string("simulated call: ") + name_of(what);
  diagnostic entry = diagnostic_on(what, d, why);
  entry.notes = note::trace;
  entry.duration_ns = platform::monotonic_ns() - began_ns;
  r.diagnose(entry);
}

failure left_out() {
  return refusal(status::timeout, "a driver call for this device has not returned");
}

bool has_bytes(const usage& u) {
  return std::ranges::any_of(fields_of<usage>(), [&u](const field& f) {
    return f.unit == unit::bytes && is_known(f, &u);
  });
}

const fault* used_fault(const conduct& c, call on, std::uint64_t reading) {
  const fault* found = nullptr;
  each_field_fault(c, on, reading, [&found](const fault& f) { found = &f; });
  return found;
}

}  // namespace

template <class F>
result<void> driver::perform(call what, const described_device* d, reading& r, F body) {
  const std::uint64_t began_ns = r.wants_trace() ? platform::monotonic_ns() : 0;
  const std::uint64_t reading_number = view_.reading;
  const fault* failing = nullptr;
  for (const conduct* c : {&view_.now->conduct, d != nullptr ? &d->conduct : nullptr}) {
    if (c == nullptr) continue;
    wait_for(*c, what, reading_number);
    if (failing == nullptr) failing = whole_fault(*c, what, reading_number);
  }
  result<void> outcome = failing != nullptr ? result<void>(failing->why) : body();
  if (r.wants_trace()) trace(what, d, outcome, began_ns, r);
  return outcome;
}

template <class F>
result<void> driver::on_device(call what, slot number, reading& r, F body) {
  if (view_.now == nullptr) return refusal(status::state, "no reading has begun");
  const described_device* d = view_.now->find(number);
  if (d == nullptr) return refusal(status::device_lost, "the machine has this device no more");
  if (!may_ask(*d, r)) return left_out();
  return perform(what, d, r, [&]() -> result<void> {
    result<void> able = check(*d);
    return able ? body(*d) : able;
  });
}

// Partitions hang together with their GPU.
bool driver::may_ask(const described_device& d, reading& r) const {
  return r.may_ask(d.identity.parent.value_or(d.identity.number), gpu_count_);
}

result<void> driver::check(const described_device& d) const {
  switch (d.identity.state) {
    case state::asleep:
      if (wake_) return {};
      return refusal(status::asleep, "the device is asleep, and a reading would wake it");
    case state::lost:
      return refusal(status::device_lost, "the device was here and is lost; restart the machine");
    case state::unreadable:
      return refusal(status::backend, "the device answers with errors");
    default:
      return {};
  }
}

void driver::keep(const result<void>& outcome) {
  settle(outcome);
  if (!outcome) {
    const status code = outcome.why().code;
    condition_.state = code == status::no_source ? state::absent
                       : code == status::asleep  ? state::asleep
                                                 : state::unreadable;
  }
  if (view_.now != nullptr) condition_.version = view_.now->version;
}

result<void> driver::open(reading& r) {
  if (is_open_) return {};
  r.opening();
  result<void> outcome = perform(call::open, nullptr, r, [] { return result<void>(); });
  r.opened();
  is_open_ = static_cast<bool>(outcome);
  return outcome;
}

result<void> driver::prepare(reading& r) {
  const result<view> next =
      std::exchange(has_begun_, false) ? file_->latest() : file_->next(counter::devices);
  if (next) {
    view_ = *next;
    gpu_count_ = static_cast<std::size_t>(std::ranges::count_if(
        view_.now->devices, [](const described_device& d) { return !d.identity.parent; }));
  }
  result<void> outcome = next ? open(r) : result<void>(next.why());
  keep(outcome);
  return outcome;
}

result<void> driver::devices(std::vector<device>& out, reading& r) {
  if (view_.now == nullptr) return condition_.why;
  return perform(call::devices, nullptr, r, [&] {
    for (const described_device& d : view_.now->devices) {
      device& listed = out.emplace_back(as_device(d.identity));
      if (listed.state == state::asleep && wake_) listed.state = state::ready;
      if (may_ask(d, r)) continue;
      listed.state = state::hung;
      r.diagnose(diagnostic_on(call::devices, &d, left_out()));
    }
    return result<void>();
  });
}

result<void> driver::memory(slot number, pools& out, reading& r) {
  return on_device(call::pools, number, r, [&](const described_device& d) -> result<void> {
    if (d.memory == nullptr) {
      return refusal(status::unsupported, "the machine file gives the device no pool");
    }
    out = *d.memory;
    each_field_fault(d.conduct, call::pools, view_.reading, [&](const fault& f) {
      for (pool& p : out.all()) forget(f.fields, p);
      diagnose_fields(call::pools, d, f.fields, f.why, r);
    });
    return {};
  });
}

result<void> driver::telemetry(slot number, FieldSet fields, hmn::telemetry& out, reading& r) {
  return on_device(call::telemetry, number, r, [&](const described_device& d) -> result<void> {
    failure why = refusal(status::unsupported, "the machine file gives no such value");
    out = d.load != nullptr ? *d.load : hmn::telemetry{};
    forget(~fields, out);
    FieldSet explained = 0;
    each_field_fault(d.conduct, call::telemetry, view_.reading, [&](const fault& f) {
      if ((f.fields & fields) == 0) return;
      forget(f.fields, out);
      explained |= f.fields;
      diagnose_fields(call::telemetry, d, f.fields & fields, f.why, r);
      if (present_bits(out) == 0) why = f.why;
    });
    const FieldSet missing = fields & ~present_bits(out) & ~explained;
    if (present_bits(out) == 0) return why;
    if (missing != 0) diagnose_fields(call::telemetry, d, missing, why, r);
    return {};
  });
}

result<void> driver::metrics(slot number, bool slow, std::vector<metric>& out, reading& r) {
  return on_device(call::metrics, number, r, [&](const described_device& d) -> result<void> {
    for (const described_metric& m : d.metrics) {
      if (m.is_slow && !slow) continue;
      if (m.missing) {
        diagnose_fields(call::metrics, d, missing_metric(m.value.id, m.value.instance), *m.missing,
                        r);
      } else {
        out.push_back(m.value);
      }
    }
    return {};
  });
}

usage driver::row_of(const described_row& row) const {
  usage u = row.value;
  if (view_.now->foreign_pids && !row.is_self) u.notes |= note::foreign_pid;
  return u;
}

result<void> driver::processes(slot number, std::vector<usage>& out, reading& r) {
  return on_device(call::processes, number, r, [&](const described_device& d) -> result<void> {
    const fault* hidden = used_fault(d.conduct, call::processes, view_.reading);
    if (hidden != nullptr) diagnose_fields(call::processes, d, usage_field::used, hidden->why, r);
    for (const described_row& row : d.rows) {
      usage& u = out.emplace_back(row_of(row));
      if (hidden != nullptr) {
        u.used.reset();
      } else if (!u.used) {
        diagnose_row(call::processes, d, row, r);
      }
    }
    return {};
  });
}

result<void> driver::unlisted(std::uint32_t pid, bool self, usage& out) const {
  if (!self) {
    return refusal(status::no_process,
                   "process " + std::to_string(pid) + " is not listed on this device");
  }
  if (view_.now->foreign_pids) {
    return refusal(status::unsupported,
                   "the driver lists processes of another PID namespace, where this process has "
                   "another number; run in the host's PID namespace to know its share");
  }
  out = {};
  out.pid = pid;
  out.from = source::simulated;
  out.accounting = accounting::allocated;
  out.used = 0;
  return {};
}

result<void> driver::process(slot number, std::uint32_t pid, bool self, usage& out, reading& r) {
  const call what = self ? call::self : call::process;
  return on_device(what, number, r, [&](const described_device& d) -> result<void> {
    const bool by_number = !self || !view_.now->foreign_pids;
    const auto row = std::ranges::find_if(d.rows, [&](const described_row& it) {
      return (self && it.is_self) || (by_number && it.value.pid == pid);
    });
    if (row == d.rows.end()) return unlisted(pid, self, out);
    out = row_of(*row);
    if (const fault* hidden = used_fault(d.conduct, what, view_.reading)) {
      out.used.reset();
      diagnose_fields(what, d, usage_field::used, hidden->why, r);
    } else if (!out.used) {
      if (!has_bytes(out)) return why_missing(*row);
      diagnose_row(what, d, *row, r);
    }
    return {};
  });
}

namespace {

failure undescribed(const char* what, const char* remedy) {
  return refusal(status::unsupported, std::string("the machine file does not describe ") + what +
                                          "; add " + remedy + " or \"host\": \"real\"");
}

result<void> give(const process_memory& described, std::uint32_t pid, FieldSet fields,
                  process_memory& out) {
  out = {};
  out.pid = pid;
  out.from = described.from;
  out.notes = described.notes;
  if (take_missing(fields, out, described) != 0) return {};
  return refusal(status::unsupported,
                 "the machine file gives none of these values of process " + std::to_string(pid));
}

result<void> check_alive(const described_process& p) {
  const std::string who = "process " + std::to_string(p.memory.pid);
  switch (p.facts.name_state) {
    case name_state::exited:
      return refusal(status::no_process, who + " has exited");
    case name_state::protected_process:
      return refusal(status::permission,
                     who + " is protected: the system does not report its memory");
    case name_state::kernel:
      return refusal(status::unsupported, who + " is a kernel thread without memory of its own");
    default:
      return {};
  }
}

}  // namespace

host::host(std::shared_ptr<machine_file> file, std::unique_ptr<host_source> real)
    : file_(std::move(file)), real_(std::move(real)), self_pid_(platform::current_pid()) {}

result<void> host::memory(std::uint32_t pid, FieldSet fields, process_memory& out) {
  const result<view> v = file_->next_of_process(pid);
  if (!v) return v.why();
  const machine& m = *v->now;
  if (const fault* f = whole_fault(m.conduct, call::process_memory, v->reading)) return f->why;
  if (const described_process* p = m.find_process(pid)) {
    result<void> alive = check_alive(*p);
    return alive ? give(p->memory, pid, fields, out) : alive;
  }
  if (pid == self_pid_ && m.self) return give(m.self->memory, pid, fields, out);
  if (m.real_host) return real_->memory(pid, fields, out);
  return refusal(status::no_process, "the machine file has no process " + std::to_string(pid));
}

result<void> host::own_memory(FieldSet fields, process_memory& out) {
  const result<view> v = file_->next(counter::own_memory);
  if (!v) return v.why();
  const machine& m = *v->now;
  if (const fault* f = whole_fault(m.conduct, call::memory, v->reading)) return f->why;
  if (m.self) return give(m.self->memory, self_pid_, fields, out);
  if (m.real_host) return real_->own_memory(fields, out);
  return undescribed("this process's host memory", "\"host\": {\"self\": {\"resident\": …}}");
}

result<void> host::system(system_memory& out) {
  const result<view> v = file_->next(counter::system);
  if (!v) return v.why();
  const machine& m = *v->now;
  if (const fault* f = whole_fault(m.conduct, call::system, v->reading)) return f->why;
  if (m.system) {
    out = *m.system;
    return {};
  }
  if (m.real_host) return real_->system(out);
  return undescribed("the host's memory", "\"host\": {\"system\": {\"total\": …}}");
}

result<void> host::groups(group_memory& out) {
  const result<view> v = file_->latest();
  if (!v) return v.why();
  out.from = source::simulated;
  for (const described_device& d : v->now->devices) {
    for (const group& g : d.groups) {
      const auto number = static_cast<std::uint32_t>(out.names.size());
      out.names.push_back(g.name);
      out.parts.push_back({number, *parse_pci_address(d.identity.pci_bus_id), *g.used, g.limit});
    }
  }
  return {};
}

void host::describe(usage& row) {
  describe(row, fill_identity, &host_source::describe);
}

void host::describe_texts(usage& row) {
  describe(row, fill_texts, &host_source::describe_texts);
}

void host::describe(usage& row, void (*fill_from)(usage&, const usage&),
                    void (host_source::*ask)(usage&)) {
  const result<view> v = file_->latest();
  if (!v) return;
  const machine& m = *v->now;
  const bool is_foreign = (row.notes & note::foreign_pid) != 0;
  if (is_foreign) return;
  if (const described_process* p = m.find_process(row.pid)) return fill_from(row, p->facts);
  if (row.pid != self_pid_) return;
  if (m.self) {
    fill_from(row, m.self->facts);
  } else if (m.real_host) {
    (real_.get()->*ask)(row);
  }
}

}  // namespace hmn::simulated
