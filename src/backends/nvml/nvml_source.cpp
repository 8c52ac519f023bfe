// SPDX-License-Identifier: MIT OR Apache-2.0
#include "backends/nvml/nvml_source.hpp"

#include <algorithm>

#include "backends/nvml/memory.hpp"
#include "backends/nvml/processes.hpp"
#include "backends/nvml/system.hpp"
#include "backends/nvml/telemetry.hpp"
#include "platform/clock.hpp"
#include "source/registry.hpp"

namespace hmn {

std::unique_ptr<DeviceSource> make_nvml(const Settings& s) {
  return std::make_unique<nvml::NvmlSource>(s);
}

namespace nvml {
namespace {

constexpr std::uint64_t first_reopen_wait_ns = platform::ns_per_second;
constexpr std::uint64_t longest_reopen_wait_ns = 32 * platform::ns_per_second;

bool is_reload(const Failure& failure) noexcept {
  return failure.native.domain == NativeDomain::nvml && failure.native.code == uninitialized;
}

Failure make_idle_failure() {
  return fail(Status::asleep,
              "no GPU has anything to do: NVML is left closed for a while, so that they can sleep; "
              "values are of before");
}

Failure make_closed_failure() {
  return fail(Status::backend, "NVML is not open");
}

}  // namespace

NvmlSource::NvmlSource(const Settings& settings)
    : DeviceSource(Source::nvml, CallBehavior::may_block),
      settings_(settings),
      watch_(settings_),
      session_(settings_),
      device_list_(settings_),
      trust_(settings_.proc_root),
      backoff_(settings_.idle_close_ns) {}

Result<void> NvmlSource::probe() {
  if (session_.is_open()) return {};
  if (has_evidence(settings_)) return {};
  failure_ = fail(Status::no_source, "no NVIDIA GPU: none on the PCI bus, and no NVIDIA driver");
  return *failure_;
}

Result<void> NvmlSource::prepare(Reading& reading) {
  const CallContext context{reading, subject::devices, {}, {}};
  const std::uint64_t now = platform::monotonic_ns();
  if (device_list_.is_new()) {
    reading.visit_known_devices([this](const Device& device, bool was_listed) {
      device_list_.restore_device(device, was_listed);
    });
  }
  trust_.begin_reading();
  watch_.refresh(now);
  backoff_.begin_reading(now, watch_.any_asleep());
  is_suspended_ = backoff_.is_active() && watch_.any_can_sleep() && !must_stay_closed();
  if (is_suspended_ || must_stay_closed()) {
    session_.close();
    failure_ = is_suspended_ ? make_idle_failure() : make_asleep_failure();
    return *failure_;
  }
  if (session_.is_open() && must_reopen(now)) {
    faults_.collect_events(context);
    session_.close();
  }
  return open(context);
}

bool NvmlSource::must_stay_closed() const noexcept {
  return !settings_.wake_devices && watch_.any_asleep();
}

// NVML lists the GPUs that were present when it was opened, and a lost one returns only with a new
// opening.
bool NvmlSource::must_reopen(std::uint64_t now_ns) {
  if (watch_.changes() != changes_at_opening_) return true;
  if (!device_list_.any_lost()) {
    reopen_wait_ns_ = first_reopen_wait_ns;
    return false;
  }
  if (now_ns - session_.open_time_ns() < reopen_wait_ns_) return false;
  reopen_wait_ns_ = std::min(reopen_wait_ns_ * 2, longest_reopen_wait_ns);
  return true;
}

Failure NvmlSource::make_asleep_failure() const {
  const auto all = watch_.devices();
  const auto it = std::ranges::find_if(all, [](const auto& device) { return device.is_asleep; });
  return fail(
      Status::asleep,
      {"the GPU at ", it != all.end() ? to_text(it->address).view() : "?",
       " sleeps, and asking NVML would wake it; it is left asleep unless waking is allowed"});
}

Result<void> NvmlSource::open(const CallContext& context) {
  if (session_.is_open()) return {};
  if (const Failure* refusal = session_.recent_refusal()) return *refusal;
  const OpeningScope scope(context.reading);
  const CallContext opening_context{context.reading, context.subject, {}, {}, true};
  auto result = session_.load();
  if (result) {
    trust_.begin_opening();
    result = session_.open(opening_context, watch_.devices().size());
  }
  if (!result) {
    failure_ = result.failure();
    return result;
  }
  device_list_.attach(opening_context, session_);
  trust_.end_opening();
  failure_.reset();
  changes_at_opening_ = watch_.changes();
  is_paravirtual_ = is_paravirtual();
  return {};
}

Result<void> NvmlSource::list_devices(const CallContext& context) {
  auto result = device_list_.enumerate(context, session_, watch_);
  if (result || !is_reload(result.failure())) return result;
  if (auto reopening = reopen(context); !reopening) return reopening;
  return device_list_.enumerate(context, session_, watch_);
}

// Opens NVML again after its driver was reloaded; not in a loop, if the driver reports another
// reload at once.
Result<void> NvmlSource::reopen(const CallContext& context) {
  const std::uint64_t now = platform::monotonic_ns();
  const bool is_repeated = reload_time_ns_ != 0 && now - reload_time_ns_ < platform::ns_per_second;
  if (is_repeated) return make_failure(uninitialized, "NVML");
  reload_time_ns_ = now;
  session_.events = nullptr;  // ended with its session: freeing it is not safe
  session_.close();
  return open(context);
}

Result<void> NvmlSource::devices(std::vector<Device>& out, Reading& reading) {
  const CallContext context{reading, subject::devices, {}, {}};
  if (session_.is_open()) {
    if (auto result = list_devices(context); !result) return result;
    if (device_list_.listed_slots().empty() && !watch_.devices().empty()) {
      context.report(Status::no_source,
                     {"NVML lists no GPU, but the bus has ", watch_.devices().size(),
                      " of NVIDIA; see 'dmesg' for NVRM lines"});
    }
  } else if (is_suspended_ || must_stay_closed()) {
    device_list_.list_without_library(context, watch_, is_suspended_ ? &*failure_ : nullptr);
  } else {
    return failure_ ? *failure_ : make_closed_failure();
  }
  device_list_.list_devices(context, out);
  return {};
}

Result<void> NvmlSource::query_device(CallContext& context, Slot slot, DeviceQuery query) {
  for (int attempt = 0;; ++attempt) {
    auto device = find_device(context, slot);
    if (!device) return device.failure();
    std::optional<Failure> failure;
    context.is_instance = (*device)->is_partition();
    const Code code = query(**device, failure);
    update_device_state(context.reading, **device, code);
    if (code == uninitialized && attempt == 0) {
      if (auto result = reopen(context); !result) return result;
      continue;
    }
    if (failure) return *failure;
    return {};
  }
}

Result<KnownDevice*> NvmlSource::find_device(const CallContext& context, Slot slot) {
  if (!session_.is_open()) {
    if (!is_suspended_ && must_stay_closed()) return make_asleep_failure();
    return failure_ ? *failure_ : make_closed_failure();
  }
  KnownDevice* device = device_list_.find(slot);
  const bool answers_again = device != nullptr && device->refusal == set_aside &&
                             device_list_.begin_device_call(context, *device);
  if (answers_again || !device_list_.has_enumerated(session_)) {
    if (auto result = list_devices({context.reading, subject::devices, {}, {}}); !result)
      return result.failure();
    device = device_list_.find(slot);
  }
  if (device == nullptr) return fail(Status::no_device, "NVML never listed this device");
  if (!device_list_.begin_device_call(context, *device)) return make_failure(set_aside, "NVML");
  const bool is_listed = device_list_.is_listed(slot);
  if (is_listed && device->handle != nullptr && device->session == session_.number()) return device;
  if (is_listed && device->refusal != success)
    return make_failure(device->refusal, device->refusing_function);
  return fail(Status::device_lost, "the driver no longer lists this device");
}

void NvmlSource::update_device_state(Reading& reading, KnownDevice& device, Code code) {
  const bool has_failed = code == gpu_is_lost || code == reset_required;
  if (!has_failed && (code != success || !device.is_lost())) return;
  device.refusal = code;
  device.identity.state = has_failed ? derive_state(code) : State::ready;
  if (has_failed) reading.correct_state(device.identity.slot, device.identity.state);
}

Result<void> NvmlSource::memory(Slot slot, PoolList& out, Reading& reading) {
  CallContext context{reading, subject::pools, slot, {}};
  if (!session_.is_open() && must_stay_closed() && add_known_total(context, out)) return {};
  return query_device(context, slot, [&](KnownDevice& device, std::optional<Failure>& failure) {
    return read_memory(context, device, out, failure);
  });
}

// A sleeping device has only constants.
bool NvmlSource::add_known_total(const CallContext& context, PoolList& pools) {
  const KnownDevice* const device = device_list_.find(*context.device);
  if (device == nullptr || !device->identity.memory_total ||
      device->identity.memory_kind == MemoryKind::unified)
    return false;
  Pool pool = make_own_pool();
  pool.total = device->identity.memory_total;
  pools.add(pool);
  if (context.wants_diagnostics())
    context.diagnose(make_asleep_failure(),
                     pool_field::used | pool_field::free | pool_field::reserved);
  return true;
}

Code NvmlSource::read_memory(const CallContext& context, KnownDevice& device, PoolList& pools,
                             std::optional<Failure>& failure) {
  Pool pool;
  const char* function_name = "";
  const Code code = query_memory(context, session_, device, pool, function_name);
  MemoryKind& kind = device.identity.memory_kind;
  if (kind == MemoryKind::unknown) {
    kind = derive_memory_kind(device.traits, code, pool.total,
                              read_shared_total(device.traits, settings_.proc_root));
  }
  if (pool.total && kind != MemoryKind::unified) device.identity.memory_total = pool.total;
  const bool may_share = !device.is_partition() && !device.is_mig_on;
  const bool has_no_sizes = code == success || code == not_supported;
  if (may_share && (pool.total || has_no_sizes) && kind == MemoryKind::unified) {
    pools.add(make_unified_pool(context, device));
    return success;
  }
  if (!pool.total) {
    failure = make_failure(code == success ? not_offered : code, function_name);
    return has_memory_total(code) ? success : code;
  }
  pools.add(pool);
  if (code == contradictory && context.wants_diagnostics()) {
    context.diagnose(make_failure(code, function_name),
                     pool_field::used | pool_field::free | pool_field::reserved);
  }
  return success;
}

// Devices that allocate from host RAM leave its values to the host source; NVML only has what
// processes use.
Pool NvmlSource::make_unified_pool(const CallContext& context, KnownDevice& device) {
  Pool pool;
  pool.kind = PoolKind::unified;
  pool.source = Source::nvml;
  pool.accounting = Accounting::allocated;
  pool.is_main = true;
  diagnose_lists(context, processes_.read(context, session_, device), pool_field::used);
  std::uint64_t sum = 0;
  for (const MergedProcess& row : processes_.rows()) {
    if (!row.used || *row.used > UINT64_MAX - sum) continue;
    sum += *row.used;
    pool.used = sum;
  }
  if (pool.used) pool.notes |= note::lower_bound | note::estimated;
  return pool;
}

Result<void> NvmlSource::telemetry(Slot slot, FieldSet fields, hmn::Telemetry& out,
                                   Reading& reading) {
  CallContext context{reading, subject::telemetry, slot, {}};
  return query_device(context, slot, [&](KnownDevice& device, std::optional<Failure>& failure) {
    TelemetryReader reader(context, session_, device, fields, out);
    auto result = reader.read();
    if (!result) failure = result.failure();
    return reader.refusal();
  });
}

Result<void> NvmlSource::metrics(Slot slot, bool include_slow, std::vector<Metric>& out,
                                 Reading& reading) {
  CallContext context{reading, subject::metrics, slot, {}};
  return query_device(context, slot, [&](KnownDevice& device, std::optional<Failure>& failure) {
    out.clear();
    MetricReader reader(context, session_, device, wide_, faults_, out);
    reader.read(include_slow);
    const Code code = reader.refusal();
    if (code != success && code != late && out.empty())
      failure = make_failure(code, reader.failed_function());
    return code;
  });
}

// Backs off only without wake_devices: callers that allow waking expect fresh values.
bool NvmlSource::finish(Reading& reading) {
  if (!session_.is_open() || !watch_.any_can_sleep()) return false;
  const std::uint64_t now = platform::monotonic_ns();
  const bool can_back_off = !settings_.wake_devices && backoff_.is_check_due(now);
  if (!can_back_off || !is_idle({reading, subject::devices, {}, {}})) return true;
  backoff_.start(now, watch_.longest_delay_ns());
  faults_.collect_events({reading, subject::metrics, {}, {}});
  session_.close();
  return false;
}

// Unknown counts as active.
bool NvmlSource::is_idle(const CallContext& context) {
  for (const Slot slot : device_list_.listed_slots()) {
    const KnownDevice& device = *device_list_.find(slot);
    Utilization load{};
    if (device.handle == nullptr || device.session != session_.number() || device.is_partition() ||
        device.is_mig_on || !device_list_.begin_device_call(context, device) ||
        call(context, session_.fn.utilization, device.handle, &load) != success || load.gpu != 0 ||
        load.memory != 0 || !processes_.read(context, session_, device).is_complete() ||
        !processes_.rows().empty()) {
      return false;
    }
  }
  return !device_list_.listed_slots().empty();
}

SourceState NvmlSource::describe(Source) const {
  SourceState current;
  current.version = session_.driver_version;
  current.failure.source = Source::nvml;
  current.failure.code = Status::ok;
  if (session_.is_open()) {
    current.state = State::ready;
  } else if (failure_) {
    current.failure = *failure_;
    current.state = failure_->code == Status::no_source ? State::absent : State::unreadable;
    if (failure_->code == Status::asleep)
      current.state = is_suspended_ ? State::ready : State::asleep;
  }
  return current;
}

}  // namespace nvml

}  // namespace hmn
