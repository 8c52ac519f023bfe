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

constexpr std::uint64_t poll_interval_ns = 2 * platform::ns_per_ms;

bool covers(Call rule, Call call) {
  const bool is_driver_call = call >= Call::open && call <= Call::metrics;
  return rule == call || (rule == Call::any && is_driver_call);
}

void apply_delay(const Delay& delay) {
  platform::sleep_ns(delay.ns);
  while (delay.forever) platform::sleep_ns(platform::ns_per_second);
  while (!delay.release_path.empty() && !platform::exists(delay.release_path.c_str()))
    platform::sleep_ns(poll_interval_ns);
}

}  // namespace

void apply_delays(const FaultScript& script, Call call, std::uint64_t reading) {
  for (const Delay& delay : script.delays) {
    if (covers(delay.call, call) && delay.readings.contains(reading)) apply_delay(delay);
  }
}

const Fault* find_call_fault(const FaultScript& script, Call call, std::uint64_t reading) noexcept {
  for (const Fault& fault : script.faults) {
    if (covers(fault.call, call) && fault.fields == 0 && fault.readings.contains(reading))
      return &fault;
  }
  return nullptr;
}

namespace {

std::uint32_t diagnostic_subject(Call call) {
  switch (call) {
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

const char* call_name(Call call) {
  switch (call) {
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

Diagnostic make_diagnostic(Call call, const DescribedDevice* device, const Failure& failure) {
  Diagnostic diagnostic;
  diagnostic.failure = failure;
  diagnostic.subject = diagnostic_subject(call);
  if (device != nullptr) diagnostic.device = device->identity.slot;
  return diagnostic;
}

void diagnose_fields(Call call, const DescribedDevice& device, FieldSet fields,
                     const Failure& failure, Reading& reading) {
  Diagnostic diagnostic = make_diagnostic(call, &device, failure);
  diagnostic.field = fields;
  reading.diagnose(diagnostic);
}

Failure explain_missing(const DescribedRow& row) {
  if (row.missing != nullptr) return *row.missing;
  return make_simulated_failure(Status::unsupported,
                                "the machine file gives no value for this process");
}

void diagnose_row(Call call, const DescribedDevice& device, const DescribedRow& row,
                  Reading& reading) {
  Diagnostic diagnostic = make_diagnostic(call, &device, explain_missing(row));
  diagnostic.field = usage_field::used;
  diagnostic.pid = row.value.pid;
  reading.diagnose(diagnostic);
}

void trace(Call call, const DescribedDevice* device, const Result<void>& outcome,
           std::uint64_t start_ns, Reading& reading) {
  Failure failure = outcome ? make_simulated_failure(Status::ok, "") : outcome.failure();
  failure.message = std::string("simulated call: ") + call_name(call);
  Diagnostic diagnostic = make_diagnostic(call, device, failure);
  diagnostic.notes = note::trace;
  diagnostic.duration_ns = platform::monotonic_ns() - start_ns;
  reading.diagnose(diagnostic);
}

Failure make_hung_failure() {
  return make_simulated_failure(Status::timeout, "a driver call for this device has not returned");
}

bool has_bytes(const Usage& usage) {
  return std::ranges::any_of(record_fields<Usage>(), [&usage](const Field& f) {
    return f.unit == Unit::bytes && is_known(f, &usage);
  });
}

const Fault* find_used_fault(const FaultScript& script, Call call, std::uint64_t reading) {
  const Fault* match = nullptr;
  for_each_field_fault(script, call, reading, [&match](const Fault& f) { match = &f; });
  return match;
}

}  // namespace

template <class F>
Result<void> Driver::perform(Call call, const DescribedDevice* device, Reading& reading, F body) {
  const std::uint64_t start_ns = reading.wants_trace() ? platform::monotonic_ns() : 0;
  const std::uint64_t reading_number = view_.reading;
  const Fault* fault = nullptr;
  for (const FaultScript* script :
       {&view_.machine->fault_script, device != nullptr ? &device->fault_script : nullptr}) {
    if (script == nullptr) continue;
    apply_delays(*script, call, reading_number);
    if (fault == nullptr) fault = find_call_fault(*script, call, reading_number);
  }
  Result<void> outcome = fault != nullptr ? Result<void>(fault->failure) : body();
  if (reading.wants_trace()) trace(call, device, outcome, start_ns, reading);
  return outcome;
}

template <class F>
Result<void> Driver::call_device(Call call, Slot slot, Reading& reading, F body) {
  if (view_.machine == nullptr)
    return make_simulated_failure(Status::state, "no reading has begun");
  const DescribedDevice* device = view_.machine->find(slot);
  if (device == nullptr)
    return make_simulated_failure(Status::device_lost, "the machine has this device no more");
  if (!begin_call(*device, reading)) return make_hung_failure();
  return perform(call, device, reading, [&]() -> Result<void> {
    Result<void> outcome = check_state(*device);
    return outcome ? body(*device) : outcome;
  });
}

// Partitions hang together with their GPU.
bool Driver::begin_call(const DescribedDevice& device, Reading& reading) const {
  return reading.begin_device_call(device.identity.parent.value_or(device.identity.slot),
                                   gpu_count_);
}

Result<void> Driver::check_state(const DescribedDevice& device) const {
  switch (device.identity.state) {
    case State::asleep:
      if (may_wake_) return {};
      return make_simulated_failure(Status::asleep,
                                    "the device is asleep, and a reading would wake it");
    case State::lost:
      return make_simulated_failure(Status::device_lost,
                                    "the device was here and is lost; restart the machine");
    case State::unreadable:
      return make_simulated_failure(Status::backend, "the device answers with errors");
    default:
      return {};
  }
}

void Driver::update_source_state(const Result<void>& outcome) {
  store_result(outcome);
  if (!outcome) {
    const Status code = outcome.failure().code;
    source_state_.state = code == Status::no_source ? State::absent
                          : code == Status::asleep  ? State::asleep
                                                    : State::unreadable;
  }
  if (view_.machine != nullptr) source_state_.version = view_.machine->version;
}

Result<void> Driver::open(Reading& reading) {
  if (is_open_) return {};
  reading.begin_opening();
  Result<void> outcome = perform(Call::open, nullptr, reading, [] { return Result<void>(); });
  reading.end_opening();
  is_open_ = static_cast<bool>(outcome);
  return outcome;
}

Result<void> Driver::prepare(Reading& reading) {
  const Result<MachineView> next =
      std::exchange(has_begun_, false) ? file_->latest() : file_->begin_reading(Counter::devices);
  if (next) {
    view_ = *next;
    gpu_count_ = static_cast<std::size_t>(std::ranges::count_if(
        view_.machine->devices, [](const DescribedDevice& d) { return !d.identity.parent; }));
  }
  Result<void> outcome = next ? open(reading) : Result<void>(next.failure());
  update_source_state(outcome);
  return outcome;
}

Result<void> Driver::devices(std::vector<Device>& out, Reading& reading) {
  if (view_.machine == nullptr) return source_state_.failure;
  return perform(Call::devices, nullptr, reading, [&] {
    for (const DescribedDevice& device : view_.machine->devices) {
      Device& entry = out.emplace_back(make_device(device.identity));
      if (entry.state == State::asleep && may_wake_) entry.state = State::ready;
      if (begin_call(device, reading)) continue;
      entry.state = State::hung;
      reading.diagnose(make_diagnostic(Call::devices, &device, make_hung_failure()));
    }
    return Result<void>();
  });
}

Result<void> Driver::memory(Slot slot, PoolList& out, Reading& reading) {
  return call_device(
      Call::pools, slot, reading, [&](const DescribedDevice& device) -> Result<void> {
        if (device.memory == nullptr) {
          return make_simulated_failure(Status::unsupported,
                                        "the machine file gives the device no pool");
        }
        out = *device.memory;
        for_each_field_fault(
            device.fault_script, Call::pools, view_.reading, [&](const Fault& fault) {
              for (Pool& p : out.all()) clear_fields(fault.fields, p);
              diagnose_fields(Call::pools, device, fault.fields, fault.failure, reading);
            });
        return {};
      });
}

Result<void> Driver::telemetry(Slot slot, FieldSet fields, hmn::Telemetry& out, Reading& reading) {
  return call_device(
      Call::telemetry, slot, reading, [&](const DescribedDevice& device) -> Result<void> {
        Failure failure =
            make_simulated_failure(Status::unsupported, "the machine file gives no such value");
        out = device.telemetry != nullptr ? *device.telemetry : hmn::Telemetry{};
        clear_fields(~fields, out);
        FieldSet explained = 0;
        for_each_field_fault(device.fault_script, Call::telemetry, view_.reading,
                             [&](const Fault& fault) {
                               if ((fault.fields & fields) == 0) return;
                               clear_fields(fault.fields, out);
                               explained |= fault.fields;
                               diagnose_fields(Call::telemetry, device, fault.fields & fields,
                                               fault.failure, reading);
                               if (present_bits(out) == 0) failure = fault.failure;
                             });
        const FieldSet missing = fields & ~present_bits(out) & ~explained;
        if (present_bits(out) == 0) return failure;
        if (missing != 0) diagnose_fields(Call::telemetry, device, missing, failure, reading);
        return {};
      });
}

Result<void> Driver::metrics(Slot slot, bool include_slow, std::vector<Metric>& out,
                             Reading& reading) {
  return call_device(Call::metrics, slot, reading,
                     [&](const DescribedDevice& device) -> Result<void> {
                       for (const DescribedMetric& metric : device.metrics) {
                         if (metric.is_slow && !include_slow) continue;
                         if (metric.missing) {
                           diagnose_fields(Call::metrics, device,
                                           missing_metric(metric.value.id, metric.value.instance),
                                           *metric.missing, reading);
                         } else {
                           out.push_back(metric.value);
                         }
                       }
                       return {};
                     });
}

Usage Driver::make_usage(const DescribedRow& row) const {
  Usage usage = row.value;
  if (view_.machine->has_foreign_pids && !row.is_self) usage.notes |= note::foreign_pid;
  return usage;
}

Result<void> Driver::processes(Slot slot, std::vector<Usage>& out, Reading& reading) {
  return call_device(
      Call::processes, slot, reading, [&](const DescribedDevice& device) -> Result<void> {
        const Fault* fault = find_used_fault(device.fault_script, Call::processes, view_.reading);
        if (fault != nullptr)
          diagnose_fields(Call::processes, device, usage_field::used, fault->failure, reading);
        for (const DescribedRow& row : device.rows) {
          Usage& usage = out.emplace_back(make_usage(row));
          if (fault != nullptr) {
            usage.used.reset();
          } else if (!usage.used) {
            diagnose_row(Call::processes, device, row, reading);
          }
        }
        return {};
      });
}

Result<void> Driver::fill_unlisted(std::uint32_t pid, bool is_self, Usage& out) const {
  if (!is_self) {
    return make_simulated_failure(
        Status::no_process, "process " + std::to_string(pid) + " is not listed on this device");
  }
  if (view_.machine->has_foreign_pids) {
    return make_simulated_failure(
        Status::unsupported,
        "the driver lists processes of another PID namespace, where this process has "
        "another number; run in the host's PID namespace to know its share");
  }
  out = {};
  out.pid = pid;
  out.source = Source::simulated;
  out.accounting = Accounting::allocated;
  out.used = 0;
  return {};
}

Result<void> Driver::process(Slot slot, std::uint32_t pid, bool is_self, Usage& out,
                             Reading& reading) {
  const Call call = is_self ? Call::self : Call::process;
  return call_device(call, slot, reading, [&](const DescribedDevice& device) -> Result<void> {
    const bool matches_pid = !is_self || !view_.machine->has_foreign_pids;
    const auto row = std::ranges::find_if(device.rows, [&](const DescribedRow& candidate) {
      return (is_self && candidate.is_self) || (matches_pid && candidate.value.pid == pid);
    });
    if (row == device.rows.end()) return fill_unlisted(pid, is_self, out);
    out = make_usage(*row);
    if (const Fault* fault = find_used_fault(device.fault_script, call, view_.reading)) {
      out.used.reset();
      diagnose_fields(call, device, usage_field::used, fault->failure, reading);
    } else if (!out.used) {
      if (!has_bytes(out)) return explain_missing(*row);
      diagnose_row(call, device, *row, reading);
    }
    return {};
  });
}

namespace {

Failure make_undescribed_failure(const char* subject, const char* remedy) {
  return make_simulated_failure(
      Status::unsupported, std::string("the machine file does not describe ") + subject + "; add " +
                               remedy + " or \"host\": \"real\"");
}

Result<void> copy_memory(const ProcessMemory& memory, std::uint32_t pid, FieldSet fields,
                         ProcessMemory& out) {
  out = {};
  out.pid = pid;
  out.source = memory.source;
  out.notes = memory.notes;
  if (fill_missing(fields, out, memory) != 0) return {};
  return make_simulated_failure(
      Status::unsupported,
      "the machine file gives none of these values of process " + std::to_string(pid));
}

Result<void> check_alive(const DescribedProcess& process) {
  const std::string name = "process " + std::to_string(process.memory.pid);
  switch (process.facts.name_state) {
    case NameState::exited:
      return make_simulated_failure(Status::no_process, name + " has exited");
    case NameState::protected_process:
      return make_simulated_failure(Status::permission,
                                    name + " is protected: the system does not report its memory");
    case NameState::kernel:
      return make_simulated_failure(Status::unsupported,
                                    name + " is a kernel thread without memory of its own");
    default:
      return {};
  }
}

}  // namespace

Host::Host(std::shared_ptr<MachineFile> file, std::unique_ptr<HostSource> real)
    : file_(std::move(file)), real_(std::move(real)), self_pid_(platform::current_pid()) {}

Result<void> Host::memory(std::uint32_t pid, FieldSet fields, ProcessMemory& out) {
  const Result<MachineView> view = file_->begin_process_reading(pid);
  if (!view) return view.failure();
  const Machine& machine = *view->machine;
  if (const Fault* fault =
          find_call_fault(machine.fault_script, Call::process_memory, view->reading))
    return fault->failure;
  if (const DescribedProcess* process = machine.find_process(pid)) {
    Result<void> alive = check_alive(*process);
    return alive ? copy_memory(process->memory, pid, fields, out) : alive;
  }
  if (pid == self_pid_ && machine.self) return copy_memory(machine.self->memory, pid, fields, out);
  if (machine.uses_real_host) return real_->memory(pid, fields, out);
  return make_simulated_failure(Status::no_process,
                                "the machine file has no process " + std::to_string(pid));
}

Result<void> Host::own_memory(FieldSet fields, ProcessMemory& out) {
  const Result<MachineView> view = file_->begin_reading(Counter::own_memory);
  if (!view) return view.failure();
  const Machine& machine = *view->machine;
  if (const Fault* fault = find_call_fault(machine.fault_script, Call::memory, view->reading))
    return fault->failure;
  if (machine.self) return copy_memory(machine.self->memory, self_pid_, fields, out);
  if (machine.uses_real_host) return real_->own_memory(fields, out);
  return make_undescribed_failure("this process's host memory",
                                  "\"host\": {\"self\": {\"resident\": …}}");
}

Result<void> Host::system(SystemMemory& out) {
  const Result<MachineView> view = file_->begin_reading(Counter::system);
  if (!view) return view.failure();
  const Machine& machine = *view->machine;
  if (const Fault* fault = find_call_fault(machine.fault_script, Call::system, view->reading))
    return fault->failure;
  if (machine.system) {
    out = *machine.system;
    return {};
  }
  if (machine.uses_real_host) return real_->system(out);
  return make_undescribed_failure("the host's memory", "\"host\": {\"system\": {\"total\": …}}");
}

Result<void> Host::groups(GroupMemory& out) {
  const Result<MachineView> view = file_->latest();
  if (!view) return view.failure();
  out.source = Source::simulated;
  for (const DescribedDevice& device : view->machine->devices) {
    for (const Group& group : device.groups) {
      const auto number = static_cast<std::uint32_t>(out.names.size());
      out.names.push_back(group.name);
      out.parts.push_back(
          {number, *parse_pci_address(device.identity.pci_bus_id), *group.used, group.limit});
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

void Host::describe(Usage& row, void (*fill)(Usage&, const Usage&),
                    void (HostSource::*query)(Usage&)) {
  const Result<MachineView> view = file_->latest();
  if (!view) return;
  const Machine& machine = *view->machine;
  const bool is_foreign = (row.notes & note::foreign_pid) != 0;
  if (is_foreign) return;
  if (const DescribedProcess* process = machine.find_process(row.pid))
    return fill(row, process->facts);
  if (row.pid != self_pid_) return;
  if (machine.self) {
    fill(row, machine.self->facts);
  } else if (machine.uses_real_host) {
    (real_.get()->*query)(row);
  }
}

}  // namespace hmn::simulated
