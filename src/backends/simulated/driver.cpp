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

bool covers(Call rule, Call on) {
  const bool is_driver_call = on >= Call::open && on <= Call::metrics;
  return rule == on || (rule == Call::any && is_driver_call);
}

void wait_through(const Delay& d) {
  platform::sleep_ns(d.ns);
  while (d.forever) platform::sleep_ns(platform::ns_per_second);
  while (!d.until.empty() && !platform::exists(d.until.c_str())) platform::sleep_ns(look_every_ns);
}

}  // namespace

void wait_for(const Conduct& c, Call on, std::uint64_t reading) {
  for (const Delay& d : c.delays) {
    if (covers(d.on, on) && d.when.holds(reading)) wait_through(d);
  }
}

const Fault* whole_fault(const Conduct& c, Call on, std::uint64_t reading) noexcept {
  for (const Fault& it : c.faults) {
    if (covers(it.on, on) && it.fields == 0 && it.when.holds(reading)) return &it;
  }
  return nullptr;
}

namespace {

std::uint32_t subject_of(Call what) {
  switch (what) {
    case Call::pools:
      return subject::pools;
    case Call::telemetry:
      return subject::telemetry;
    case Call::self:
      return subject::self;
    case Call::process:
    case Call::processes:
      return subject::processes;
    case Call::metrics:
      return subject::metrics;
    default:
      return subject::devices;
  }
}

const char* name_of(Call what) {
  switch (what) {
    case Call::open:
      return "open";
    case Call::pools:
      return "pools";
    case Call::telemetry:
      return "telemetry";
    case Call::self:
      return "self";
    case Call::process:
      return "process";
    case Call::processes:
      return "processes";
    case Call::metrics:
      return "metrics";
    default:
      return "devices";
  }
}

Diagnostic diagnostic_on(Call what, const DescribedDevice* d, const Failure& why) {
  Diagnostic entry;
  entry.why = why;
  entry.about = subject_of(what);
  if (d != nullptr) entry.device = d->identity.number;
  return entry;
}

void diagnose_fields(Call what, const DescribedDevice& d, FieldSet fields, const Failure& why,
                     Reading& r) {
  Diagnostic entry = diagnostic_on(what, &d, why);
  entry.field = fields;
  r.diagnose(entry);
}

Failure why_missing(const DescribedRow& row) {
  if (row.missing != nullptr) return *row.missing;
  return refusal(Status::unsupported, "the machine file gives no value for this process");
}

void diagnose_row(Call what, const DescribedDevice& d, const DescribedRow& row, Reading& r) {
  Diagnostic entry = diagnostic_on(what, &d, why_missing(row));
  entry.field = usage_field::used;
  entry.pid = row.value.pid;
  r.diagnose(entry);
}

void trace(Call what, const DescribedDevice* d, const Result<void>& outcome, std::uint64_t began_ns,
           Reading& r) {
  Failure why = outcome ? refusal(Status::ok, "") : outcome.why();
  why.message = std::string("simulated call: ") + name_of(what);
  Diagnostic entry = diagnostic_on(what, d, why);
  entry.notes = note::trace;
  entry.duration_ns = platform::monotonic_ns() - began_ns;
  r.diagnose(entry);
}

Failure left_out() {
  return refusal(Status::timeout, "a driver call for this device has not returned");
}

bool has_bytes(const Usage& u) {
  return std::ranges::any_of(fields_of<Usage>(), [&u](const Field& f) {
    return f.unit == Unit::bytes && is_known(f, &u);
  });
}

const Fault* used_fault(const Conduct& c, Call on, std::uint64_t reading) {
  const Fault* found = nullptr;
  each_field_fault(c, on, reading, [&found](const Fault& f) { found = &f; });
  return found;
}

}  // namespace

template <class F>
Result<void> Driver::perform(Call what, const DescribedDevice* d, Reading& r, F body) {
  const std::uint64_t began_ns = r.wants_trace() ? platform::monotonic_ns() : 0;
  const std::uint64_t reading_number = view_.reading;
  const Fault* failing = nullptr;
  for (const Conduct* c : {&view_.now->conduct, d != nullptr ? &d->conduct : nullptr}) {
    if (c == nullptr) continue;
    wait_for(*c, what, reading_number);
    if (failing == nullptr) failing = whole_fault(*c, what, reading_number);
  }
  Result<void> outcome = failing != nullptr ? Result<void>(failing->why) : body();
  if (r.wants_trace()) trace(what, d, outcome, began_ns, r);
  return outcome;
}

template <class F>
Result<void> Driver::on_device(Call what, Slot number, Reading& r, F body) {
  if (view_.now == nullptr) return refusal(Status::state, "no reading has begun");
  const DescribedDevice* d = view_.now->find(number);
  if (d == nullptr) return refusal(Status::device_lost, "the machine has this device no more");
  if (!may_ask(*d, r)) return left_out();
  return perform(what, d, r, [&]() -> Result<void> {
    Result<void> able = check(*d);
    return able ? body(*d) : able;
  });
}

// Partitions hang together with their GPU.
bool Driver::may_ask(const DescribedDevice& d, Reading& r) const {
  return r.may_ask(d.identity.parent.value_or(d.identity.number), gpu_count_);
}

Result<void> Driver::check(const DescribedDevice& d) const {
  switch (d.identity.state) {
    case State::asleep:
      if (wake_) return {};
      return refusal(Status::asleep, "the device is asleep, and a reading would wake it");
    case State::lost:
      return refusal(Status::device_lost, "the device was here and is lost; restart the machine");
    case State::unreadable:
      return refusal(Status::backend, "the device answers with errors");
    default:
      return {};
  }
}

void Driver::keep(const Result<void>& outcome) {
  settle(outcome);
  if (!outcome) {
    const Status code = outcome.why().code;
    condition_.state = code == Status::no_source ? State::absent
                       : code == Status::asleep  ? State::asleep
                                                 : State::unreadable;
  }
  if (view_.now != nullptr) condition_.version = view_.now->version;
}

Result<void> Driver::open(Reading& r) {
  if (is_open_) return {};
  r.opening();
  Result<void> outcome = perform(Call::open, nullptr, r, [] { return Result<void>(); });
  r.opened();
  is_open_ = static_cast<bool>(outcome);
  return outcome;
}

Result<void> Driver::prepare(Reading& r) {
  const Result<View> next =
      std::exchange(has_begun_, false) ? file_->latest() : file_->next(Counter::devices);
  if (next) {
    view_ = *next;
    gpu_count_ = static_cast<std::size_t>(std::ranges::count_if(
        view_.now->devices, [](const DescribedDevice& d) { return !d.identity.parent; }));
  }
  Result<void> outcome = next ? open(r) : Result<void>(next.why());
  keep(outcome);
  return outcome;
}

Result<void> Driver::devices(std::vector<Device>& out, Reading& r) {
  if (view_.now == nullptr) return condition_.why;
  return perform(Call::devices, nullptr, r, [&] {
    for (const DescribedDevice& d : view_.now->devices) {
      Device& listed = out.emplace_back(as_device(d.identity));
      if (listed.state == State::asleep && wake_) listed.state = State::ready;
      if (may_ask(d, r)) continue;
      listed.state = State::hung;
      r.diagnose(diagnostic_on(Call::devices, &d, left_out()));
    }
    return Result<void>();
  });
}

Result<void> Driver::memory(Slot number, Pools& out, Reading& r) {
  return on_device(Call::pools, number, r, [&](const DescribedDevice& d) -> Result<void> {
    if (d.memory == nullptr) {
      return refusal(Status::unsupported, "the machine file gives the device no pool");
    }
    out = *d.memory;
    each_field_fault(d.conduct, Call::pools, view_.reading, [&](const Fault& f) {
      for (Pool& p : out.all()) forget(f.fields, p);
      diagnose_fields(Call::pools, d, f.fields, f.why, r);
    });
    return {};
  });
}

Result<void> Driver::telemetry(Slot number, FieldSet fields, hmn::Telemetry& out, Reading& r) {
  return on_device(Call::telemetry, number, r, [&](const DescribedDevice& d) -> Result<void> {
    Failure why = refusal(Status::unsupported, "the machine file gives no such value");
    out = d.load != nullptr ? *d.load : hmn::Telemetry{};
    forget(~fields, out);
    FieldSet explained = 0;
    each_field_fault(d.conduct, Call::telemetry, view_.reading, [&](const Fault& f) {
      if ((f.fields & fields) == 0) return;
      forget(f.fields, out);
      explained |= f.fields;
      diagnose_fields(Call::telemetry, d, f.fields & fields, f.why, r);
      if (present_bits(out) == 0) why = f.why;
    });
    const FieldSet missing = fields & ~present_bits(out) & ~explained;
    if (present_bits(out) == 0) return why;
    if (missing != 0) diagnose_fields(Call::telemetry, d, missing, why, r);
    return {};
  });
}

Result<void> Driver::metrics(Slot number, bool slow, std::vector<Metric>& out, Reading& r) {
  return on_device(Call::metrics, number, r, [&](const DescribedDevice& d) -> Result<void> {
    for (const DescribedMetric& m : d.metrics) {
      if (m.is_slow && !slow) continue;
      if (m.missing) {
        diagnose_fields(Call::metrics, d, missing_metric(m.value.id, m.value.instance), *m.missing,
                        r);
      } else {
        out.push_back(m.value);
      }
    }
    return {};
  });
}

Usage Driver::row_of(const DescribedRow& row) const {
  Usage u = row.value;
  if (view_.now->foreign_pids && !row.is_self) u.notes |= note::foreign_pid;
  return u;
}

Result<void> Driver::processes(Slot number, std::vector<Usage>& out, Reading& r) {
  return on_device(Call::processes, number, r, [&](const DescribedDevice& d) -> Result<void> {
    const Fault* hidden = used_fault(d.conduct, Call::processes, view_.reading);
    if (hidden != nullptr) diagnose_fields(Call::processes, d, usage_field::used, hidden->why, r);
    for (const DescribedRow& row : d.rows) {
      Usage& u = out.emplace_back(row_of(row));
      if (hidden != nullptr) {
        u.used.reset();
      } else if (!u.used) {
        diagnose_row(Call::processes, d, row, r);
      }
    }
    return {};
  });
}

Result<void> Driver::unlisted(std::uint32_t pid, bool self, Usage& out) const {
  if (!self) {
    return refusal(Status::no_process,
                   "process " + std::to_string(pid) + " is not listed on this device");
  }
  if (view_.now->foreign_pids) {
    return refusal(Status::unsupported,
                   "the driver lists processes of another PID namespace, where this process has "
                   "another number; run in the host's PID namespace to know its share");
  }
  out = {};
  out.pid = pid;
  out.from = Source::simulated;
  out.accounting = Accounting::allocated;
  out.used = 0;
  return {};
}

Result<void> Driver::process(Slot number, std::uint32_t pid, bool self, Usage& out, Reading& r) {
  const Call what = self ? Call::self : Call::process;
  return on_device(what, number, r, [&](const DescribedDevice& d) -> Result<void> {
    const bool by_number = !self || !view_.now->foreign_pids;
    const auto row = std::ranges::find_if(d.rows, [&](const DescribedRow& it) {
      return (self && it.is_self) || (by_number && it.value.pid == pid);
    });
    if (row == d.rows.end()) return unlisted(pid, self, out);
    out = row_of(*row);
    if (const Fault* hidden = used_fault(d.conduct, what, view_.reading)) {
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

Failure undescribed(const char* what, const char* remedy) {
  return refusal(Status::unsupported, std::string("the machine file does not describe ") + what +
                                          "; add " + remedy + " or \"host\": \"real\"");
}

Result<void> give(const ProcessMemory& described, std::uint32_t pid, FieldSet fields,
                  ProcessMemory& out) {
  out = {};
  out.pid = pid;
  out.from = described.from;
  out.notes = described.notes;
  if (take_missing(fields, out, described) != 0) return {};
  return refusal(Status::unsupported,
                 "the machine file gives none of these values of process " + std::to_string(pid));
}

Result<void> check_alive(const DescribedProcess& p) {
  const std::string who = "process " + std::to_string(p.memory.pid);
  switch (p.facts.name_state) {
    case NameState::exited:
      return refusal(Status::no_process, who + " has exited");
    case NameState::protected_process:
      return refusal(Status::permission,
                     who + " is protected: the system does not report its memory");
    case NameState::kernel:
      return refusal(Status::unsupported, who + " is a kernel thread without memory of its own");
    default:
      return {};
  }
}

}  // namespace

Host::Host(std::shared_ptr<MachineFile> file, std::unique_ptr<HostSource> real)
    : file_(std::move(file)), real_(std::move(real)), self_pid_(platform::current_pid()) {}

Result<void> Host::memory(std::uint32_t pid, FieldSet fields, ProcessMemory& out) {
  const Result<View> v = file_->next_of_process(pid);
  if (!v) return v.why();
  const Machine& m = *v->now;
  if (const Fault* f = whole_fault(m.conduct, Call::process_memory, v->reading)) return f->why;
  if (const DescribedProcess* p = m.find_process(pid)) {
    Result<void> alive = check_alive(*p);
    return alive ? give(p->memory, pid, fields, out) : alive;
  }
  if (pid == self_pid_ && m.self) return give(m.self->memory, pid, fields, out);
  if (m.real_host) return real_->memory(pid, fields, out);
  return refusal(Status::no_process, "the machine file has no process " + std::to_string(pid));
}

Result<void> Host::own_memory(FieldSet fields, ProcessMemory& out) {
  const Result<View> v = file_->next(Counter::own_memory);
  if (!v) return v.why();
  const Machine& m = *v->now;
  if (const Fault* f = whole_fault(m.conduct, Call::memory, v->reading)) return f->why;
  if (m.self) return give(m.self->memory, self_pid_, fields, out);
  if (m.real_host) return real_->own_memory(fields, out);
  return undescribed("this process's host memory", "\"host\": {\"self\": {\"resident\": …}}");
}

Result<void> Host::system(SystemMemory& out) {
  const Result<View> v = file_->next(Counter::system);
  if (!v) return v.why();
  const Machine& m = *v->now;
  if (const Fault* f = whole_fault(m.conduct, Call::system, v->reading)) return f->why;
  if (m.system) {
    out = *m.system;
    return {};
  }
  if (m.real_host) return real_->system(out);
  return undescribed("the host's memory", "\"host\": {\"system\": {\"total\": …}}");
}

Result<void> Host::groups(GroupMemory& out) {
  const Result<View> v = file_->latest();
  if (!v) return v.why();
  out.from = Source::simulated;
  for (const DescribedDevice& d : v->now->devices) {
    for (const Group& g : d.groups) {
      const auto number = static_cast<std::uint32_t>(out.names.size());
      out.names.push_back(g.name);
      out.parts.push_back({number, *parse_pci_address(d.identity.pci_bus_id), *g.used, g.limit});
    }
  }
  return {};
}

void Host::describe(Usage& row) {
  describe(row, fill_identity, &HostSource::describe);
}

void Host::describe_texts(Usage& row) {
  describe(row, fill_texts, &HostSource::describe_texts);
}

void Host::describe(Usage& row, void (*fill_from)(Usage&, const Usage&),
                    void (HostSource::*ask)(Usage&)) {
  const Result<View> v = file_->latest();
  if (!v) return;
  const Machine& m = *v->now;
  const bool is_foreign = (row.notes & note::foreign_pid) != 0;
  if (is_foreign) return;
  if (const DescribedProcess* p = m.find_process(row.pid)) return fill_from(row, p->facts);
  if (row.pid != self_pid_) return;
  if (m.self) {
    fill_from(row, m.self->facts);
  } else if (m.real_host) {
    (real_.get()->*ask)(row);
  }
}

}  // namespace hmn::simulated
