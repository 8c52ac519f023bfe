// SPDX-License-Identifier: MIT OR Apache-2.0
#include "core/query.hpp"

#include <algorithm>
#include <new>
#include <span>
#include <string_view>

#include "core/device_table.hpp"
#include "model/character.hpp"
#include "model/function_ref.hpp"
#include "model/pci_address.hpp"
#include "model/plausible.hpp"
#include "model/record.hpp"
#include "platform/clock.hpp"

namespace hmn {
namespace {

bool has_same_uuid(const Device& a, const Device& b) noexcept {
  return !a.uuid.empty() && equal_ignoring_case(a.uuid.view(), b.uuid.view());
}

// Partitions are at the address of their GPU.
bool has_same_address(const Device& a, const Device& b) noexcept {
  return !a.is_partition && !b.is_partition && !a.pci_bus_id.empty() &&
         a.pci_bus_id == b.pci_bus_id;
}

bool has_same_instance(const Device& a, const Device& b) noexcept {
  return a.parent && a.parent == b.parent && a.instance && a.instance == b.instance;
}

// Identifier that no two devices of a source may share.
struct Identifier {
  FieldSet field;
  std::string_view name;
  bool (*is_same)(const Device&, const Device&) noexcept;
  void (*forget)(Device&) noexcept;
};

constexpr Identifier identifiers[] = {
    {device_field::uuid, "UUID", has_same_uuid, [](Device& d) noexcept { d.uuid = {}; }},
    {device_field::pci_bus_id, "PCI address", has_same_address,
     [](Device& d) noexcept { d.pci_bus_id = {}; }},
    {device_field::instance, "MIG instance", has_same_instance,
     [](Device& d) noexcept { d.instance.reset(); }},
};

void diagnose(const Device& device, Status code, std::initializer_list<Piece> message,
              FieldSet field, Reading& reading) {
  if (!reading.wants_diagnostics()) return;
  const Reason reason = code == Status::ok ? Reason::ambiguous : Reason::implausible;
  const Failure failure{code, device.source, {}, message, reason};
  reading.diagnose({failure, 0, subject::devices, field, device.slot, {}, {}, {}});
}

void drop_repeated(std::vector<Device>& devices, Reading& reading) {
  for (std::size_t i = 0; i < devices.size(); ++i) {
    const auto is_match = [&](const Device& d) { return d.slot == devices[i].slot; };
    const auto after = devices.begin() + static_cast<std::ptrdiff_t>(i) + 1;
    const auto repeats = std::remove_if(after, devices.end(), is_match);
    if (repeats == devices.end()) continue;
    devices.erase(repeats, devices.end());
    diagnose(devices[i], Status::backend, {"the driver lists this device more than once"}, 0,
             reading);
  }
}

// If several devices report the same identifier, it is not known which of them has it.
void forget_shared(std::span<Device> devices, const Identifier& identifier, Reading& reading) {
  const auto drop_identifier = [&](Device& device) {
    diagnose(device, Status::backend,
             {"the driver reports its ", identifier.name, " for another device, too: implausible"},
             identifier.field, reading);
    identifier.forget(device);
  };
  for (std::size_t i = 0; i < devices.size(); ++i) {
    bool is_shared = false;
    for (Device& other : devices.subspan(i + 1)) {
      if (!identifier.is_same(devices[i], other)) continue;
      drop_identifier(other);
      is_shared = true;
    }
    if (is_shared) drop_identifier(devices[i]);
  }
}

void check_parent(const Device& device, std::span<const Device> devices, Reading& reading) {
  if (!device.is_partition) return;
  const bool is_listed = std::ranges::any_of(devices, [&](const Device& other) {
    return device.parent == other.slot && !other.is_partition;
  });
  if (is_listed) return;
  diagnose(device, Status::backend, {"a partition of a device that the driver does not list"},
           device_field::parent_index, reading);
}

// Reports without a field, since nothing is missing.
void report_change(const Device& device, std::string_view property, const Piece& before,
                   const Piece& now, Reading& reading) {
  diagnose(device, Status::ok, {"its ", property, " was ", before, " and is ", now, " now"}, 0,
           reading);
}

void report_moves(const Device& before, const Device& now, Reading& reading) {
  if (!before.uuid.empty() && !now.uuid.empty() && before.uuid != now.uuid) {
    report_change(now, "UUID", before.uuid.view(), now.uuid.view(), reading);
  }
  if (!before.pci_bus_id.empty() && !now.pci_bus_id.empty() &&
      before.pci_bus_id != now.pci_bus_id) {
    report_change(now, "PCI address", before.pci_bus_id.view(), now.pci_bus_id.view(), reading);
  }
  if (before.driver_index && now.driver_index && before.driver_index != now.driver_index) {
    report_change(now, "index with the driver", *before.driver_index, *now.driver_index, reading);
  }
}

// Reports a device at the address of another one.
void report_replacement(const Device& newcomer, const SourceCache& cache, Reading& reading) {
  for (const DeviceCache& entry : cache.devices) {
    const Device& old = entry.identity;
    if (!entry.is_listed || !has_same_address(old, newcomer) || old.uuid.empty() ||
        newcomer.uuid.empty()) {
      continue;
    }
    diagnose(newcomer, Status::ok,
             {"at its PCI address ", newcomer.pci_bus_id.view(), " was ", old.uuid.view(),
              " and is ", newcomer.uuid.view(), " now"},
             0, reading);
  }
}

// Drops implausible values from a new list and reports them, and changes since the last list: an
// identifier belongs to one device, which keeps it.
void check_identities(std::vector<Device>& devices, const SourceCache& cache, Reading& reading) {
  drop_repeated(devices, reading);
  for (Device& device : devices) {
    drop_implausible(device, [&](FieldSet field, const Failure& failure) {
      if (reading.wants_diagnostics()) {
        reading.diagnose({failure, 0, subject::devices, field, device.slot, {}, {}, {}});
      }
    });
  }
  for (const Identifier& identifier : identifiers) forget_shared(devices, identifier, reading);
  for (const Device& device : devices) {
    check_parent(device, devices, reading);
    const auto it = std::ranges::find_if(cache.devices, [&](const DeviceCache& entry) {
      return entry.identity.slot == device.slot;
    });
    if (it != cache.devices.end()) {
      report_moves(it->identity, device, reading);
    } else {
      report_replacement(device, cache, reading);
    }
  }
}

using platform::continuous_ns;

// A PCI id is not a name; another source may have one.
void drop_pci_id_name(Device& device, Reading& reading) {
  if (!is_pci_id(device.name.view())) return;
  Failure failure{Status::unsupported,
                  device.source,
                  {},
                  {"the driver has no name for this device, only \"", device.name.view(), "\""}};
  device.name = {};
  if (reading.wants_diagnostics()) {
    reading.diagnose({failure, 0, subject::devices, device_field::name, device.slot, {}, {}, {}});
  }
}

// Gives partitions the class and the form of the device that they are part of.
void complete_partitions(std::span<Device> devices) {
  for (Device& partition : devices) {
    if (!partition.parent) continue;
    const auto parent = std::ranges::find(devices, *partition.parent, &Device::slot);
    if (parent == devices.end()) continue;
    partition.device_class = parent->device_class;
    partition.form = parent->form;
  }
}

// Drops devices of classes that were not requested, and the diagnostics about them.
void drop_other_classes(std::uint32_t classes, SourceCache& cache) {
  std::erase_if(cache.device_buffer, [&](const Device& device) {
    if ((device_class_bit(device.device_class) & classes) != 0) return false;
    std::erase_if(cache.diagnostics, [&](const Diagnostic& diagnostic) {
      return diagnostic.device == device.slot && (diagnostic.notes & note::trace) == 0;
    });
    return true;
  });
}

// Returns the time of the values that the source has just returned.
std::uint64_t value_time_ns(const DeviceSource& source) {
  return source.read_ns() != 0 ? source.read_ns() : continuous_ns();
}

Result<void> list_devices(DeviceSource& source, const Plan& plan, SourceCache& cache,
                          Reading& reading) {
  cache.device_buffer.clear();
  Result<void> ok = source.devices(cache.device_buffer, reading);
  reading.end_device_call();
  if (!ok) return ok;
  complete_partitions(cache.device_buffer);
  drop_other_classes(plan.device_classes, cache);
  check_identities(cache.device_buffer, cache, reading);
  for (DeviceCache& entry : cache.devices) entry.is_listed = false;
  const std::uint64_t age_ns = age_at_zero(value_time_ns(source));
  for (Device& device : cache.device_buffer) {
    drop_pci_id_name(device, reading);
    device.age_ns = age_ns;
    DeviceCache& entry = cache.find_or_add_device(device.slot);
    if (!device.memory_total) device.memory_total = entry.identity.memory_total;
    entry.identity = device;
    entry.is_listed = true;
  }
  cache.list_ns = plan.start_ns;
  return {};
}

// Reports dropped fields as diagnostics.
class DropReporter {
 public:
  DropReporter(Reading& reading, std::uint32_t subject, Slot slot,
               std::optional<std::uint32_t> pid = {}) noexcept
      : reading_(reading), subject_(subject), slot_(slot), pid_(pid) {}

  void operator()(FieldSet field, const Failure& failure) {
    if (!first_) first_ = failure;
    if (reading_.wants_diagnostics())
      reading_.diagnose({failure, 0, subject_, field, slot_, pid_, {}, {}, pool_});
  }
  // The pool whose fields are dropped from now on.
  void set_pool(const Pool& pool) noexcept { pool_ = {pool.kind, pool.instance}; }

  // Fails with the first reason if no record has a value left.
  template <class Records>
  [[nodiscard]] Result<void> outcome(const Records& records) const {
    if (!first_ ||
        std::ranges::any_of(records, [](const auto& r) { return present_bits(r) != 0; })) {
      return {};
    }
    return *first_;
  }

 private:
  Reading& reading_;
  std::uint32_t subject_;
  Slot slot_;
  std::optional<std::uint32_t> pid_;
  std::optional<PoolKey> pool_;
  std::optional<Failure> first_;
};

template <class T>
void store_result(CachedValue<T>& part, const DeviceSource& source, const Plan& plan,
                  Result<void> outcome) {
  if (outcome) {
    part.set_success(plan.start_ns, value_time_ns(source));
  } else {
    part.set_failure(plan.start_ns, outcome.failure(), source.is_suspended());
  }
}

// The total of a unified pool is the host's, unless the driver reports one.
void add_host_total(hmn::PoolList& pools, const Reading& reading) {
  for (Pool& pool : pools.all()) {
    if (pool.kind != PoolKind::unified || pool.total || pool.instance != 0) continue;
    pool.total = reading.host_total();
    if (pool.total) pool.notes |= note::mixed;
  }
}

// Returns whether the pool may hold memory of processes.
bool may_hold_processes(const Pool& pool, const Device& device) noexcept {
  if (pool.instance != 0) return false;
  if (pool.kind == PoolKind::unified) return true;
  if (device.memory_kind != MemoryKind::unified) return pool.is_main && pool.kind == PoolKind::vram;
  return pool.kind == PoolKind::vram || pool.kind == PoolKind::host;
}

// Stores the most that a process can use, which most drivers report in this reading only.
void store_total(const hmn::PoolList& pools, Device& device) {
  std::uint64_t sum = 0;
  for (const Pool& pool : pools.all()) {
    if (!may_hold_processes(pool, device)) continue;
    if (!pool.total) return;
    sum += *pool.total;
  }
  if (sum != 0) device.memory_total = sum;
}

// Returns the memory that a GPU instance takes from the others; compute instances share that of
// their GPU instance. If one of several claims all memory or more, one slice is counted: an eighth.
std::uint64_t count_instance_memory(const DeviceCache& partition, const Device& gpu,
                                    const SourceCache& cache) {
  const Device& identity = partition.identity;
  if (!partition.is_listed || identity.parent != gpu.slot || !identity.instance) return 0;
  for (const DeviceCache& other : cache.devices) {
    const Device& other_identity = other.identity;
    if (!other.is_listed || other_identity.parent != gpu.slot || !other_identity.instance) continue;
    if (other_identity.instance->gpu != identity.instance->gpu) continue;
    if (&other != &partition) return 0;
    break;
  }
  const std::uint64_t total = identity.memory_total.value_or(0);
  return total < gpu.memory_total ? total : *gpu.memory_total / 8;
}

// Returns how much of its GPU's memory a partition can have. Each of AMD's partitions may have all
// of it.
std::optional<std::uint64_t> find_max_memory(const Device& device, const SourceCache& cache) {
  if (!device.parent) return std::nullopt;
  const auto is_gpu = [&](const DeviceCache& entry) {
    return device.parent == entry.identity.slot;
  };
  const auto it = std::ranges::find_if(cache.devices, is_gpu);
  if (it == cache.devices.end() || !it->identity.memory_total) return std::nullopt;
  const Device& gpu = it->identity;
  std::uint64_t max_bytes = *gpu.memory_total;
  if (device.source != Source::nvml || !device.instance) return max_bytes;
  for (const DeviceCache& other : cache.devices) {
    const auto& instance = other.identity.instance;
    if (!instance || instance->gpu == device.instance->gpu) continue;
    max_bytes -= std::min(max_bytes, count_instance_memory(other, gpu, cache));
  }
  return max_bytes;
}

void read_pools(DeviceSource& source, const Plan& plan, DeviceCache& device,
                const SourceCache& cache, Reading& reading) {
  hmn::PoolList pools;
  Result<void> ok = source.memory(device.identity.slot, pools, reading);
  if (ok) add_host_total(pools, reading);
  if (ok)
    ok = keep_plausible(pools, device.identity.slot, reading,
                        find_max_memory(device.identity, cache));
  if (ok) store_total(pools, device.identity);
  if (ok) device.pools.value = pools;
  store_result(device.pools, source, plan, std::move(ok));
}

void read_telemetry(DeviceSource& source, const Plan& plan, DeviceCache& device, Reading& reading) {
  hmn::Telemetry telemetry;
  Result<void> ok = source.telemetry(device.identity.slot, plan.telemetry, telemetry, reading);
  if (ok) ok = keep_plausible(telemetry, device.identity.slot, reading, &device.energy);
  if (ok) device.telemetry.value = telemetry;
  device.telemetry_fields = plan.telemetry;
  device.telemetry.is_quick = plan.is_quick;
  store_result(device.telemetry, source, plan, std::move(ok));
}

void read_process(DeviceSource& source, const Plan& plan, bool is_self, DeviceCache& device,
                  CachedValue<Usage>& part, Reading& reading) {
  const std::uint32_t pid = is_self ? plan.own_pid : plan.pid;
  Usage usage;
  usage.pid = pid;
  Result<void> ok = source.process(device.identity.slot, pid, is_self, usage, reading);
  if (ok)
    ok = keep_plausible(usage, device.identity, is_self ? subject::self : subject::processes,
                        reading);
  if (ok) part.value = std::move(usage);
  part.is_quick = plan.is_quick && !is_self;
  store_result(part, source, plan, std::move(ok));
}

void read_processes(DeviceSource& source, const Plan& plan, DeviceCache& device, Reading& reading) {
  std::vector<Usage> rows;
  Result<void> ok = source.processes(device.identity.slot, rows, reading);
  for (Usage& row : rows) {
    static_cast<void>(keep_plausible(row, device.identity, subject::processes, reading));
  }
  if (ok) device.processes.value = std::move(rows);
  device.processes.is_quick = plan.is_quick;
  store_result(device.processes, source, plan, std::move(ok));
}

void read_metrics(DeviceSource& source, const Plan& plan, DeviceCache& device, Reading& reading) {
  std::vector<Metric> metrics;
  Result<void> ok = source.metrics(device.identity.slot, plan.includes_slow, metrics, reading);
  if (ok) keep_plausible(metrics, device.identity.slot, reading, &device.energy);
  if (ok) device.metrics.value = std::move(metrics);
  device.has_slow_metrics = plan.includes_slow;
  device.metrics.is_quick = plan.is_quick;
  store_result(device.metrics, source, plan, std::move(ok));
}

void read_device(DeviceSource& source, const Plan& plan, DeviceCache& device,
                 const SourceCache& cache, Reading& reading) {
  if (plan.pools) read_pools(source, plan, device, cache, reading);
  if (plan.self) read_process(source, plan, true, device, device.self, reading);
  if (plan.pid != 0) read_process(source, plan, false, device, device.process, reading);
  if (plan.processes) read_processes(source, plan, device, reading);
  if (plan.telemetry != 0) read_telemetry(source, plan, device, reading);
}

bool is_requested(const Plan& plan, const DeviceCache& device) {
  return plan.only_device ? device.identity.slot == *plan.only_device : device.is_listed;
}

// Reads a part of each device that the plan is about.
void read_each_device(const Plan& plan, SourceCache& cache, ProgressCallback report_progress,
                      FunctionRef<void(DeviceCache&)> read) {
  for (DeviceCache& device : cache.devices) {
    if (!is_requested(plan, device)) continue;
    read(device);
    report_progress(&device);
  }
}

void serve(DeviceSource& source, const Plan& plan, SourceCache& cache, Reading& reading,
           ProgressCallback report_progress) {
  if (Result<void> ok = source.prepare(reading); !ok && ok.failure().code != Status::asleep) {
    cache.refusal = ok.failure();
    return;
  }
  if (plan.list) {
    if (Result<void> ok = list_devices(source, plan, cache, reading); !ok) {
      cache.refusal = ok.failure();
      return;
    }
    report_progress(nullptr);
  }
  const std::uint64_t since_ns = continuous_ns();
  for (DeviceCache& device : cache.devices) device.energy.start_ns = since_ns;
  read_each_device(plan, cache, report_progress,
                   [&](DeviceCache& device) { read_device(source, plan, device, cache, reading); });
  // Read last: slow metrics of one device must not delay the memory of another.
  if (!plan.metrics) return;
  read_each_device(plan, cache, report_progress,
                   [&](DeviceCache& device) { read_metrics(source, plan, device, reading); });
}

Failure make_memory_failure(Source source) noexcept {
  return {Status::no_memory, source, {}, "no memory left"};
}
Failure internal_error(Source source) noexcept {
  return {Status::internal, source, {}, "internal error"};
}

}  // namespace

Result<void> keep_plausible(PoolList& pools, Slot slot, Reading& reading,
                            std::optional<std::uint64_t> max_total) {
  DropReporter reporter(reading, subject::pools, slot);
  for (Pool& pool : pools.all()) {
    reporter.set_pool(pool);
    drop_implausible(pool, reporter, pool.is_main ? max_total : std::nullopt);
  }
  return reporter.outcome(pools.all());
}

Result<void> keep_plausible(Telemetry& telemetry, Slot slot, Reading& reading,
                            EnergyHistory* history) {
  DropReporter reporter(reading, subject::telemetry, slot);
  drop_implausible(telemetry, reporter);
  if (history != nullptr) drop_jumps(telemetry, *history, continuous_ns(), reporter);
  return reporter.outcome(std::span(&telemetry, 1));
}

Result<void> keep_plausible(Usage& row, const Device& device, std::uint32_t subject,
                            Reading& reading) {
  DropReporter reporter(reading, subject, device.slot, row.pid);
  drop_implausible(row, device.memory_total, reporter);
  return reporter.outcome(std::span(&row, 1));
}

void keep_plausible(std::vector<Metric>& metrics, Slot slot, Reading& reading,
                    EnergyHistory* history) {
  DropReporter reporter(reading, subject::metrics, slot);
  drop_implausible(metrics, reporter);
  if (history != nullptr) drop_jumps(metrics, *history, continuous_ns(), reporter);
}

bool query(DeviceSource& source, const Plan& plan, SourceCache& cache, Reading& reading,
           ProgressCallback report_progress) {
  cache.refusal.reset();
  cache.is_conclusive = false;
  try {
    serve(source, plan, cache, reading, report_progress);
    cache.is_suspended = source.is_suspended();
    const bool may_close = source.finish(reading);
    if (plan.source_to_describe) cache.source_state = source.describe(*plan.source_to_describe);
    return may_close;
  } catch (const std::bad_alloc&) {
    cache.refusal = make_memory_failure(source.id());
  } catch (...) {
    cache.refusal = internal_error(source.id());
  }
  return true;
}

}  // namespace hmn
