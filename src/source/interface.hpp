// SPDX-License-Identifier: MIT OR Apache-2.0
//
// Interface of the measurement sources. A source depends neither on other sources nor on core's
// policy or the C structs.
#pragma once

#include <atomic>
#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "model/device.hpp"
#include "model/diagnostic.hpp"
#include "model/failure.hpp"
#include "model/function_ref.hpp"
#include "model/group_memory.hpp"
#include "model/host_memory.hpp"
#include "model/metric.hpp"
#include "model/pool.hpp"
#include "model/telemetry.hpp"
#include "model/usage.hpp"
#include "source/settings.hpp"

namespace hmn {

// One reading as seen by a source: its deadline, and where its diagnostics go.
class Reading {
 public:
  virtual ~Reading() = default;

  // Absolute, on the monotonic clock. Sources that can bound their own waiting respect it.
  [[nodiscard]] virtual std::uint64_t deadline_ns() const noexcept = 0;
  [[nodiscard]] virtual bool wants_trace() const noexcept = 0;
  // False if diagnostics of this reading are discarded, so that they need not be built.
  [[nodiscard]] virtual bool wants_diagnostics() const noexcept { return true; }
  // Whether to skip what takes the driver milliseconds. Such values are absent for the reason
  // not_yet; a later reading has them.
  [[nodiscard]] virtual bool is_quick() const noexcept { return false; }
  // Maximum age of an answer that a source which runs a program may return again; 0: run it again.
  [[nodiscard]] virtual std::uint64_t max_age_ns() const noexcept { return 0; }
  // Total of the host's RAM, if it is known.
  [[nodiscard]] virtual std::optional<std::uint64_t> host_total() const { return {}; }
  virtual void diagnose(const Diagnostic& diagnostic) = 0;
  // Called before calls for one of a driver's `count` devices, by its index there. Such a call may
  // never return; core then sets the device aside and reads the others through a second instance of
  // the source. Returns false for a device that is set aside: it must not be queried.
  [[nodiscard]] virtual bool begin_device_call(std::uint32_t /*index*/,
                                               std::size_t /*count*/) noexcept {
    return true;
  }
  // Called when the driver has answered, so that core's own work is not counted as a hanging call.
  virtual void end_device_call() noexcept {}
  // Set once the caller may not wait any longer; null: it is never set. A source that waits for a
  // program then ends it and calls mark_cut_short(): a value that this reading lacks may still
  // exist.
  [[nodiscard]] virtual const std::atomic<bool>* cancel_flag() const noexcept { return nullptr; }
  virtual void mark_cut_short() noexcept {}
  // Visits the devices that an earlier source of the same kind has numbered; `is_listed`: whether
  // they were in its last list.
  using DeviceVisitor = FunctionRef<void(const Device& device, bool is_listed)>;
  virtual void visit_known_devices(DeviceVisitor /*visit*/) const {}
  // Corrects the state of a listed device where its values contradict it.
  virtual void correct_state(Slot /*slot*/, hmn::State /*now*/) {}
  // Called before and after a vendor library is opened, which has a deadline of its own.
  virtual void begin_opening() noexcept = 0;
  virtual void end_opening() noexcept = 0;
};

struct SourceState {
  hmn::State state = hmn::State::unknown;
  Failure failure;  // Status::ok if it is working
  Text<96> version;
};

// Memory and processes of the host. Never blocks; thread-safe.
class HostSource {
 public:
  virtual ~HostSource() = default;

  [[nodiscard]] virtual Source id() const noexcept = 0;
  // `fields` are process_memory_field bits, never 0. Succeeds if at least one was read and drops
  // the errors of the others: read one field alone to get its error.
  virtual Result<void> memory(std::uint32_t pid, FieldSet fields, ProcessMemory& out) = 0;
  // `out` has the caller's pid.
  virtual Result<void> own_memory(FieldSet fields, ProcessMemory& out) = 0;
  // Makes system calls only, for frequent readings. Returns false if own_memory() has to be used.
  virtual bool own_sizes(MemorySizes& out) noexcept {
    static_cast<void>(out);
    return false;
  }
  virtual Result<void> system(SystemMemory& out) = 0;
  // Fills name, name_state, start_unix_ns, uid and host_resident where they are still unknown.
  virtual void describe(Usage& row) = 0;
  // Fills command and container, which cost more and are only needed by process lists.
  virtual void describe_texts(Usage& row) = 0;
  // Does both for a list, without the texts of rows for which `reuse_texts` returns true.
  virtual void describe_all(std::span<Usage* const> rows, FunctionRef<bool(Usage&)> reuse_texts) {
    for (Usage* const row : rows) {
      describe(*row);
      if (!reuse_texts(*row)) describe_texts(*row);
    }
  }
  // Folders of the caller's control groups (v2), innermost first; none if they cannot be read.
  virtual void own_groups(std::vector<std::string>& out) { static_cast<void>(out); }
  // Returns "docker:1c8f…" for the path of a container's group, else nothing.
  virtual void name_group(std::string_view path, std::string& out) {
    static_cast<void>(path);
    static_cast<void>(out);
  }
  // Device memory held by control groups. Some are missing on failure.
  virtual Result<void> groups(GroupMemory& out) {
    static_cast<void>(out);
    return {};
  }
  // Adds the system's limits to a device's pools, by PCI address, after the device's own sources
  // have filled them.
  virtual void limit(std::string_view pci_bus_id, PoolList& pools) {
    static_cast<void>(pci_bus_id);
    static_cast<void>(pools);
  }
  // State of a source that extends this one; none if it is absent here.
  virtual std::optional<SourceState> describe_source(Source source) {
    static_cast<void>(source);
    return std::nullopt;
  }
};

// Source of GPUs. Each source implements devices(), and the other functions for which it has
// values. Called by one thread at a time, except for what never changes: id, can_block, can_wait,
// answered_sources and answers_for.
class DeviceSource {
 public:
  virtual ~DeviceSource() = default;

  [[nodiscard]] Source id() const noexcept { return id_; }
  [[nodiscard]] bool can_block() const noexcept { return behavior_ == CallBehavior::may_block; }
  // Whether its caller may have to wait, for a driver or for a program that it runs.
  [[nodiscard]] bool can_wait() const noexcept { return behavior_ != CallBehavior::return_in_time; }
  // Whether it reports the status of this source: its own, and those of the drivers it contains.
  [[nodiscard]] bool answers_for(Source source) const noexcept {
    return (answered_sources_ & source_bit(source)) != 0;
  }
  [[nodiscard]] std::uint64_t answered_sources() const noexcept { return answered_sources_; }
  // Whether the last call was skipped to let a device suspend: earlier values remain, marked stale.
  [[nodiscard]] bool is_suspended() const noexcept { return is_suspended_; }
  // Time at which the values of the last call were read; 0: during that call.
  [[nodiscard]] std::uint64_t read_ns() const noexcept { return read_ns_; }

  // Checks for presence: cheap, wakes nothing, called on the caller's thread before a worker is
  // started. A failure (no_source, with a sentence) is conclusive for this reading.
  virtual Result<void> probe() { return {}; }
  // Opens what the other calls need, unless it is open. Fails with asleep where that would wake a
  // device; devices() then still works, with identity only.
  virtual Result<void> prepare(Reading&) {
    Result<void> ok = probe();
    store_result(ok);
    return ok;
  }
  // Appends every device in the driver's order; partitions follow their parent. Devices that are
  // gone are not listed; those that are set aside (Reading::begin_device_call) are.
  virtual Result<void> devices(std::vector<Device>& out, Reading& reading) = 0;
  virtual Result<void> memory(Slot, PoolList&, Reading&) {
    return make_unsupported_failure("device memory is not reported by this source");
  }
  // `fields` are telemetry_field bits. Reports each missing one as a diagnostic; fails if all are
  // missing.
  virtual Result<void> telemetry(Slot, FieldSet /*fields*/, hmn::Telemetry&, Reading&) {
    return make_unsupported_failure("telemetry is not reported by this source");
  }
  // Appends metrics, each with its own source (model/metric.hpp): those without a telemetry field,
  // and each instance (every sensor, every clock) of those with one. `include_slow`: include what
  // takes more than a few milliseconds. A failed metric is a diagnostic and affects no other; an
  // empty list is no failure.
  virtual Result<void> metrics(Slot, bool /*include_slow*/, std::vector<Metric>&, Reading&) {
    return {};
  }
  // Appends one row per process.
  virtual Result<void> processes(Slot, std::vector<Usage>&, Reading&) {
    return make_unsupported_failure("per-process memory is not reported by this source");
  }
  // Usage of one process; `used` is absent with a diagnostic if its value is unknown. 0 means
  // proven zero. `self`: pid is the caller's own, in the caller's PID namespace. By default a row
  // of processes(), and never 0.
  virtual Result<void> process(Slot slot, std::uint32_t pid, bool /*self*/, Usage& out,
                               Reading& reading) {
    std::vector<Usage> rows;
    if (Result<void> ok = processes(slot, rows, reading); !ok) return ok;
    for (Usage& row : rows) {
      if (row.pid != pid) continue;
      out = std::move(row);
      return {};
    }
    return Failure{Status::no_process, id_, {}, {"process ", pid, " is not listed on this device"}};
  }

  // Called at the end of each reading, within its deadline. Returns whether to close the source
  // when idle, since one of its devices could suspend.
  virtual bool finish(Reading&) { return false; }
  virtual void close() noexcept {}
  // Makes a second instance, to query the other devices while a call of this one hangs. Called on
  // another thread, so it may use only what never changes. nullptr: no device can be set aside.
  [[nodiscard]] virtual std::unique_ptr<DeviceSource> clone(const Settings&) const {
    return nullptr;
  }
  // State of a source that it answers for; by default what store_result() was given.
  [[nodiscard]] virtual SourceState describe(Source /*which*/) const { return source_state_; }

 protected:
  // run_programs: each program is ended at the reading's deadline. may_block: a call may hang in a
  // driver, so core makes it on a worker thread.
  enum class CallBehavior { return_in_time, run_programs, may_block };

  DeviceSource(Source id, CallBehavior behavior) noexcept
      : id_(id), behavior_(behavior), answered_sources_(source_bit(id)) {
    source_state_.failure = {Status::empty, id, {}, {}};
  }
  void add_answered_sources(std::uint64_t sources) noexcept { answered_sources_ |= sources; }
  void store_result(const Result<void>& outcome) {
    source_state_.failure = outcome ? Failure{Status::ok, id_, {}, {}} : outcome.failure();
    source_state_.state = outcome ? State::ready : State::unknown;
  }

  SourceState source_state_;
  bool is_suspended_ = false;
  std::uint64_t read_ns_ = 0;

 private:
  [[nodiscard]] Failure make_unsupported_failure(const MessageText& message) const {
    return {Status::unsupported, id_, {}, message};
  }

  Source id_;
  CallBehavior behavior_;
  std::uint64_t answered_sources_;
};

// Records what the sources of a context read, so that a user's machine can be replayed elsewhere.
class MachineRecorder {
 public:
  virtual ~MachineRecorder() = default;
  // Stores the recording so far as a machine file, anonymized.
  virtual Result<void> write_machine_file(std::string& out) const = 0;
};

}  // namespace hmn
