// SPDX-License-Identifier: MIT OR Apache-2.0
#include "core/context.hpp"

#include <algorithm>

#include "core/reason.hpp"
#include "core/usable.hpp"
#include "model/message_text.hpp"
#include "platform/process.hpp"

namespace hmn {
namespace {

std::string& select_path(Settings& settings, PathKind kind) {
  switch (kind) {
    case PathKind::proc:
      return settings.proc_root;
    case PathKind::sys:
      return settings.sys_root;
    case PathKind::nvml:
      return settings.nvml_path;
    case PathKind::nvidia_smi:
      return settings.nvidia_smi_path;
    case PathKind::rocm_smi:
      return settings.rocm_smi_path;
    case PathKind::amd_smi:
      return settings.amd_smi_path;
    case PathKind::macmon:
      return settings.macmon_path;
    case PathKind::simulation:
      return settings.simulation_path;
    case PathKind::dev:
      return settings.dev_root;
    case PathKind::cgroup:
      break;
  }
  return settings.cgroup_root;
}

Source find_path_source(PathKind kind) {
  switch (kind) {
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
State derive_state(const Failure& failure) {
  switch (failure.code) {
    case Status::timeout:
      return State::hung;
    case Status::no_source:
    case Status::device_lost:
      return State::lost;
    default:
      return State::unreadable;
  }
}

// Returns whether the failure is in this process and proves nothing about the machine.
bool is_process_failure(const Failure& failure) {
  return failure.code == Status::no_memory || failure.code == Status::limit ||
         failure.code == Status::internal;
}

// Returns whether the failure proves that the source has no device: its driver or tool is absent. A
// configured file that could not be found (an errno) proves nothing.
bool proves_absence(const Failure& failure) {
  return failure.code == Status::no_device ||
         (failure.code == Status::no_source && failure.native.domain != NativeDomain::error_number);
}

}  // namespace

Context::Context(const Settings& settings, const Limits& limits)
    : settings_(settings),
      limits_(limits),
      generation_(platform::process_generation()),
      own_pid_(platform::current_pid()) {}

Context::~Context() {
  if (!is_forked()) return;
  for (const std::unique_ptr<Worker>& worker : workers_) worker->abandon();
}

bool Context::is_forked() const noexcept {
  return generation_ != platform::process_generation();
}

void Context::set_cancelled(bool is_cancelled) noexcept {
  // Set before the locks are taken: a caller that is about to wait checks it under one of them.
  is_cancelled_ = is_cancelled;
  {
    const std::lock_guard lock(start_mutex_);
    for (const std::unique_ptr<Worker>& worker : workers_) worker->wake();
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

Result<void> Context::set_path(PathKind kind, std::string_view value) {
  if (Result<void> ok = require(find_path_source(kind)); !ok) return ok;
  const std::lock_guard lock(start_mutex_);
  if (is_started_) {
    return make_failure(Status::state, "a path can only be set before the context's first reading");
  }
  std::string& path = select_path(settings_, kind);
  path = value.empty() ? select_path(*std::make_unique<Settings>(), kind) : std::string(value);
  return {};
}

void Context::start() {
  if (is_started_.load(std::memory_order_acquire)) return;
  const std::lock_guard lock(start_mutex_);
  if (is_started_) return;
  SourceList list = make_sources(settings_);
  host_ = std::move(list.host);
  workers_.clear();
  nvidia_smi_ = nullptr;
  for (SourceEntry& entry : list.devices) {
    workers_.push_back(
        std::make_unique<Worker>(std::move(entry), host_, settings_, limits_, is_cancelled_));
    if (workers_.back()->id() == Source::nvidia_smi) nvidia_smi_ = workers_.back().get();
  }
  recorder_ = std::move(list.recorder);
  is_started_.store(true, std::memory_order_release);
}

Result<Context::Refusals> Context::query_sources(const Plan& plan,
                                                 std::optional<std::uint32_t> index,
                                                 Deadline& deadline, Visitor visit,
                                                 std::vector<ScanStep>* steps) {
  Refusals refusals;
  std::uint64_t answered_sources = 0;  // bit n: source n has answered
  std::uint64_t listing_sources = 0;   // bit n: source n has listed its devices in this reading
  bool wants_more = true;
  for (const std::unique_ptr<Worker>& worker : workers_) {
    if (!wants_more) break;
    if ((worker->fallback_for() & answered_sources) != 0) {
      if ((worker->fallback_for() & listing_sources) == 0) continue;
      if (steps != nullptr) {
        steps->push_back({worker.get(), {}, true});
      } else {
        forget_devices(*worker);
      }
      continue;
    }
    if (index && !may_have_device(*worker, *index)) continue;
    if (worker->is_absent(deadline.start_ns()) && is_expected_absence(*worker, index)) continue;
    deadline.reserve_for_next(choose_reserve(*worker, index));
    const Plan worker_plan = adapt_plan(*worker, plan, index);
    bool is_conclusive = false;
    bool is_listed = false;
    Result<void> outcome = worker->run(
        worker_plan, deadline, [&](const SourceCache& cache, const Freshness& freshness) {
          is_conclusive = cache.is_conclusive && !freshness.is_late;
          const std::uint64_t suspended_sources = suspended_sources_ & ~source_bit(worker->id());
          suspended_sources_ =
              cache.is_suspended ? suspended_sources | source_bit(worker->id()) : suspended_sources;
          if (cache.refusal && !is_late(*cache.refusal)) return;
          // If this call is late, a list that was too late for an earlier call still serves it.
          is_listed = worker_plan.list && cache.list_ns >= freshness.since_ns;
          if (worker_plan.list && cache.list_ns != 0) {
            if (steps != nullptr) {
              steps->push_back({worker.get(), {}});
            } else {
              update_devices(*worker, cache);
            }
          }
          if (is_listed) listing_sources |= source_bit(worker->id());
          for (const DeviceCache& device : cache.devices) {
            if (!device.is_listed) continue;
            answered_sources |= source_bit(device.identity.source);
            if (is_listed) listing_sources |= source_bit(device.identity.source);
          }
          wants_more = visit(*worker, cache, freshness);
        });
    if (!outcome && hmn::is_cancelled(outcome.failure())) return outcome.failure();
    if (outcome || is_late(outcome.failure())) answered_sources |= source_bit(worker->id());
    if (outcome) continue;
    if (is_conclusive && is_expected_absence(*worker, index)) continue;
    if (!is_listed && steps != nullptr) {
      steps->push_back({worker.get(), outcome.failure()});
    } else if (!is_listed) {
      apply_refusal(*worker, outcome.failure(), worker_plan.list ? std::nullopt : index);
    }
    refusals.push_back({worker->id(), outcome.failure(), is_conclusive});
  }
  return refusals;
}

Deadline Context::make_deadline(std::optional<std::uint64_t> deadline_ns,
                                std::uint64_t start_ns) const {
  return {start_ns, deadline_ns.value_or(limits_.deadline_ns), limits_.open_deadline_ns};
}

Plan Context::make_plan() const {
  Plan plan;
  plan.own_pid = own_pid_;
  plan.device_classes = settings_.device_classes;
  return plan;
}

// Returns whether the failure can be dropped: an absent source matters only to devices it has
// listed.
bool Context::is_expected_absence(const Worker& worker, std::optional<std::uint32_t> index) {
  const std::lock_guard lock(table_mutex_);
  if (index) return !table_.find_slot(*index, worker.id());
  return table_.count() != 0 && !table_.has_listed(worker.id());
}

// Returns whether the source is queried for the device. A healthy device is queried from the
// sources that list it; a failed one may have come back through any source.
bool Context::may_have_device(const Worker& worker, std::uint32_t index) {
  const std::lock_guard lock(table_mutex_);
  const State state = table_.at(index).state;
  return table_.find_slot(index, worker.id()) || (state != State::ready && state != State::asleep);
}

// Returns the share of the time to reserve for the sources after this one, not counting fallbacks:
// half if one of them can block, a quarter if only this one can.
Deadline::Share Context::choose_reserve(const Worker& worker, std::optional<std::uint32_t> index) {
  Deadline::Share share = Deadline::Share::none;
  bool is_after = false;
  for (const std::unique_ptr<Worker>& next : workers_) {
    if (is_after && next->fallback_for() == 0) {
      if (next->can_block() && (!index || may_have_device(*next, *index)))
        return Deadline::Share::half;
      if (worker.can_block() && share == Deadline::Share::none && may_serve(*next, index)) {
        share = Deadline::Share::quarter;
      }
    }
    is_after = is_after || next.get() == &worker;
  }
  return share;
}

// Returns whether the source may have devices, as far as is known.
bool Context::may_serve(Worker& worker, std::optional<std::uint32_t> index) {
  if (index) return may_have_device(worker, *index);
  {
    const std::lock_guard lock(table_mutex_);
    if (table_.count() != 0) return table_.has_listed(worker.id());
  }
  return worker.may_be_present();
}

Plan Context::adapt_plan(const Worker& worker, Plan plan, std::optional<std::uint32_t> index) {
  if (!index) return plan;
  const std::lock_guard lock(table_mutex_);
  const State state = table_.at(*index).state;
  plan.only_device = table_.find_slot(*index, worker.id());
  plan.list = plan.list || !plan.only_device || (state != State::ready && state != State::asleep);
  return plan;
}

void Context::update_devices(Worker& worker, const SourceCache& cache) {
  const std::lock_guard lock(table_mutex_);
  device_buffer_.clear();
  for (const DeviceCache& device : cache.devices) {
    if (device.is_listed) device_buffer_.push_back(&device.identity);
  }
  table_.update(worker.id(), device_buffer_);
}

void Context::forget_devices(const Worker& worker) {
  const std::lock_guard lock(table_mutex_);
  if (table_.has_listed(worker.id())) table_.update(worker.id(), {});
}

void Context::apply_refusal(const Worker& worker, const Failure& failure,
                            std::optional<std::uint32_t> index) {
  const std::lock_guard lock(table_mutex_);
  if (index) {
    table_.set_state(*index, derive_state(failure));
  } else {
    table_.set_state(worker.id(), derive_state(failure));
  }
}

void Context::set_usable(MergedDevice& device, std::optional<PoolKind> kind) {
  if (device.pools.empty()) return;
  const std::string_view address = device.identity.pci_bus_id.view();
  if (!address.empty()) host_->limit(address, device.pools);
  hmn::set_usable(device.pools, device.identity, *host_, kind);
}

Result<void> Context::scan(Deadline& deadline) {
  start();
  Plan plan = make_plan();
  plan.list = true;
  std::vector<ScanStep> steps;
  const Result<Refusals> refusals = query_sources(
      plan, std::nullopt, deadline, [](auto&&...) { return true; }, &steps);
  if (!refusals) return refusals.failure();
  const bool has_failed = std::ranges::any_of(
      *refusals, [](const Refusal& refusal) { return is_process_failure(refusal.failure); });
  if (!has_failed) apply_scan(steps);
  if (const auto failure = store_refusals(*refusals)) return *failure;
  return {};
}

void Context::apply_scan(const std::vector<ScanStep>& steps) {
  for (const ScanStep& step : steps) {
    if (step.is_replaced) {
      forget_devices(*step.worker);
    } else if (step.failure) {
      apply_refusal(*step.worker, *step.failure, {});
    } else {
      // Use its current list, so that the newer list wins if two scans run at once.
      step.worker->visit_cache(
          [&](const SourceCache& cache, const Freshness&) { update_devices(*step.worker, cache); },
          {});
    }
  }
}

std::optional<Failure> Context::store_refusals(const Refusals& refusals) {
  const std::lock_guard lock(table_mutex_);
  for (const Refusal& refusal : refusals) {
    if (is_process_failure(refusal.failure)) return refusal.failure;
    if (table_.count() == 0 && !proves_absence(refusal.failure)) return refusal.failure;
  }
  has_scanned_ = true;
  refusals_ = refusals;
  return std::nullopt;
}

Result<void> Context::ensure_scanned(Deadline& deadline) {
  start();
  {
    const std::lock_guard lock(table_mutex_);
    if (has_scanned_) return {};
  }
  return scan(deadline);
}

// The caller holds the table's mutex.
Failure Context::make_device_failure(std::uint32_t index) const {
  Failure failure{Status::no_device, Source::none, {}, {}};
  if (const std::uint32_t count = table_.count(); count != 0) {
    failure.message = {"no device ", index, ": the indexes are 0 to ", count - 1};
    return failure;
  }
  for (const Refusal& refusal : refusals_) {
    if (refusal.is_conclusive) continue;
    failure.source = refusal.failure.source;
    failure.native = refusal.failure.native;
    failure.message = {"no device ", index, ": ", refusal.failure.message.view()};
    return failure;
  }
  failure.message = {"no device ", index, ": no GPU was found"};
  return failure;
}

Result<void> Context::ensure_listed(std::uint32_t index, Deadline& deadline) {
  if (Result<void> ok = ensure_scanned(deadline); !ok) return ok;
  const std::lock_guard lock(table_mutex_);
  return index < table_.count() ? Result<void>() : make_device_failure(index);
}

Result<DeviceScan> Context::scan() {
  Deadline deadline = make_deadline();
  if (Result<void> ok = scan(deadline); !ok) return ok.failure();
  const std::lock_guard lock(table_mutex_);
  return DeviceScan{table_.count(), table_.generation()};
}

Result<std::uint32_t> Context::find(std::string_view text) {
  const Result<DeviceKey> key = parse_device_key(text);
  if (!key) return key.failure();
  Deadline deadline = make_deadline();
  if (Result<void> ok = ensure_scanned(deadline); !ok) return ok.failure();
  const std::lock_guard lock(table_mutex_);
  if (const auto index = table_.find(*key)) return *index;
  std::string excerpt;
  append_utf8(excerpt, text.substr(0, 120));
  Failure failure = make_failure(
      Status::no_device, {"no device has the key \"", excerpt, "\"; ", table_.count(), " known"});
  // A device that could not be read may have the key.
  if (const Device* const candidate = table_.find_possible(*key))
    failure = state_failure(*candidate);
  for (const Refusal& refusal : refusals_) {
    if (!refusal.is_conclusive && !proves_absence(refusal.failure)) failure = refusal.failure;
  }
  if (failure.code != Status::no_device) {
    failure.message = {"no known device has the key \"", excerpt, "\": ", failure.message.view()};
  }
  return failure;
}

Result<Device> Context::identity(std::uint32_t index) {
  Deadline deadline = make_deadline();
  if (Result<void> ok = ensure_listed(index, deadline); !ok) return ok.failure();
  const std::lock_guard lock(table_mutex_);
  Device device = table_.at(index);
  complete_ages(device, platform::continuous_ns());
  return device;
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
  if (recorder_) return recorder_->write_machine_file(out);
  const char* const reason = settings_.record ? "a simulated machine is not recorded"
                                              : "the context was created without recording";
  return make_failure(Status::state, reason);
}

Result<SourceState> Context::backend(Source source) {
  if (!is_available(source)) {
    if (Result<void> ok = require(source); !ok) return SourceState{State::off, ok.failure(), {}};
  }
  start();
  if (source == Source::os) return SourceState{State::ready, {Status::ok, source, {}, {}}, {}};
  if (const auto source_state = host_->describe_source(source)) return *source_state;
  Plan plan = make_plan();
  plan.source_to_describe = source;
  for (const std::unique_ptr<Worker>& worker : workers_) {
    if (!worker->answers_for(source)) continue;
    Deadline deadline = make_deadline();
    SourceState source_state;
    const Result<void> outcome = worker->run(
        plan, deadline,
        [&](const SourceCache& cache, const Freshness&) { source_state = cache.source_state; });
    if (!outcome) {
      if (hmn::is_cancelled(outcome.failure())) return outcome.failure();
      source_state.failure = outcome.failure();
      source_state.state = outcome.failure().code == Status::no_source
                               ? State::absent
                               : derive_state(outcome.failure());
    }
    return source_state;
  }
  return SourceState{State::off, {Status::ok, source, {}, "switched off for this context"}, {}};
}

}  // namespace hmn
