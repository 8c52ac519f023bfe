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
  return !is_partition(a) && !is_partition(b) && !a.pci_bus_id.empty() &&
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

void diagnose(const Device& about, Status code, std::initializer_list<Piece> message,
              FieldSet field, Reading& r) {
  if (!r.wants_diagnostics()) return;
  const Reason stated = code == Status::ok ? Reason::ambiguous : Reason::implausible;
  const Failure why{code, about.from, {}, message, stated};
  r.diagnose({why, 0, subject::devices, field, about.number, {}, {}, {}});
}

void drop_repeated(std::vector<Device>& listed, Reading& r) {
  for (std::size_t i = 0; i < listed.size(); ++i) {
    const auto is_it = [&](const Device& d) { return d.number == listed[i].number; };
    const auto after = listed.begin() + static_cast<std::ptrdiff_t>(i) + 1;
    const auto repeated = std::remove_if(after, listed.end(), is_it);
    if (repeated == listed.end()) continue;
    listed.erase(repeated, listed.end());
    diagnose(listed[i], Status::backend, {"the driver lists this device more than once"}, 0, r);
  }
}

// Of several devices that report the same identifier, nothing shows whose it is.
void forget_shared(std::span<Device> listed, const Identifier& of, Reading& r) {
  const auto forget_it = [&](Device& d) {
    diagnose(d, Status::backend,
             {"the driver reports its ", of.name, " for another device, too: implausible"},
             of.field, r);
    of.forget(d);
  };
  for (std::size_t i = 0; i < listed.size(); ++i) {
    bool is_shared = false;
    for (Device& other : listed.subspan(i + 1)) {
      if (!of.is_same(listed[i], other)) continue;
      forget_it(other);
      is_shared = true;
    }
    if (is_shared) forget_it(listed[i]);
  }
}

void check_parent(const Device& d, std::span<const Device> listed, Reading& r) {
  if (!is_partition(d)) return;
  const bool is_listed = std::ranges::any_of(listed, [&](const Device& other) {
    return d.parent == other.number && !is_partition(other);
  });
  if (is_listed) return;
  diagnose(d, Status::backend, {"a partition of a device that the driver does not list"},
           device_field::parent_index, r);
}

// Reports without a field, since nothing is missing.
void report_change(const Device& d, std::string_view what, const Piece& before, const Piece& now,
                   Reading& r) {
  diagnose(d, Status::ok, {"its ", what, " was ", before, " and is ", now, " now"}, 0, r);
}

void report_moves(const Device& before, const Device& now, Reading& r) {
  if (!before.uuid.empty() && !now.uuid.empty() && before.uuid != now.uuid) {
    report_change(now, "UUID", before.uuid.view(), now.uuid.view(), r);
  }
  if (!before.pci_bus_id.empty() && !now.pci_bus_id.empty() &&
      before.pci_bus_id != now.pci_bus_id) {
    report_change(now, "PCI address", before.pci_bus_id.view(), now.pci_bus_id.view(), r);
  }
  if (before.driver_index && now.driver_index && before.driver_index != now.driver_index) {
    report_change(now, "index with the driver", *before.driver_index, *now.driver_index, r);
  }
}

// Reports a device that is where another was.
void report_replaced(const Device& fresh, const SourceCache& before, Reading& r) {
  for (const DeviceCache& known : before.devices) {
    const Device& old = known.identity;
    if (!known.listed || !has_same_address(old, fresh) || old.uuid.empty() || fresh.uuid.empty()) {
      continue;
    }
    diagnose(fresh, Status::ok,
             {"at its PCI address ", fresh.pci_bus_id.view(), " was ", old.uuid.view(), " and is ",
              fresh.uuid.view(), " now"},
             0, r);
  }
}

// Drops implausible values from a new list and reports them, and what differs from the last list:
// an identifier belongs to one device, which keeps it.
void check_identities(std::vector<Device>& listed, const SourceCache& before, Reading& r) {
  drop_repeated(listed, r);
  for (Device& d : listed) {
    drop_implausible(d, [&](FieldSet field, const Failure& why) {
      if (r.wants_diagnostics()) {
        r.diagnose({why, 0, subject::devices, field, d.number, {}, {}, {}});
      }
    });
  }
  for (const Identifier& each : identifiers) forget_shared(listed, each, r);
  for (const Device& d : listed) {
    check_parent(d, listed, r);
    const auto known = std::ranges::find_if(
        before.devices, [&](const DeviceCache& a) { return a.identity.number == d.number; });
    if (known != before.devices.end()) {
      report_moves(known->identity, d, r);
    } else {
      report_replaced(d, before, r);
    }
  }
}

using platform::continuous_ns;

// A PCI id is no name; another source may have one.
void drop_id_for_name(Device& d, Reading& r) {
  if (!is_pci_id(d.name.view())) return;
  Failure why{Status::unsupported,
              d.from,
              {},
              {"the driver has no name for this device, only \"", d.name.view(), "\""}};
  d.name = {};
  if (r.wants_diagnostics()) {
    r.diagnose({why, 0, subject::devices, device_field::name, d.number, {}, {}, {}});
  }
}

// A partition has the class and the form of the device that it is a part of.
void complete_partitions(std::span<Device> listed) {
  for (Device& part : listed) {
    if (!part.parent) continue;
    const auto whole = std::ranges::find(listed, *part.parent, &Device::number);
    if (whole == listed.end()) continue;
    part.device_class = whole->device_class;
    part.form = whole->form;
  }
}

// Drops devices of classes that were not asked for, and what the source noted about them.
void drop_other_classes(std::uint32_t classes, SourceCache& out) {
  std::erase_if(out.found, [&](const Device& d) {
    if ((bit_of(d.device_class) & classes) != 0) return false;
    std::erase_if(out.diagnostics, [&](const Diagnostic& known) {
      return known.device == d.number && (known.notes & note::trace) == 0;
    });
    return true;
  });
}

// Returns when the source read what it has just answered.
std::uint64_t taken_ns(const DeviceSource& from) {
  return from.taken_ns() != 0 ? from.taken_ns() : continuous_ns();
}

Result<void> list(DeviceSource& from, const Plan& p, SourceCache& out, Reading& r) {
  out.found.clear();
  Result<void> ok = from.devices(out.found, r);
  r.answered();
  if (!ok) return ok;
  complete_partitions(out.found);
  drop_other_classes(p.device_classes, out);
  check_identities(out.found, out, r);
  for (DeviceCache& d : out.devices) d.listed = false;
  const std::uint64_t age_ns = age_at_zero(taken_ns(from));
  for (Device& d : out.found) {
    drop_id_for_name(d, r);
    d.age_ns = age_ns;
    DeviceCache& entry = out.entry_of(d.number);
    if (!d.memory_total) d.memory_total = entry.identity.memory_total;
    entry.identity = d;
    entry.listed = true;
  }
  out.listed_ns = p.begun_ns;
  return {};
}

// Turns dropped fields into diagnostics.
class DroppedFields {
 public:
  DroppedFields(Reading& r, std::uint32_t about, Slot device,
                std::optional<std::uint32_t> pid = {}) noexcept
      : r_(r), about_(about), device_(device), pid_(pid) {}

  void operator()(FieldSet field, const Failure& why) {
    if (!first_) first_ = why;
    if (r_.wants_diagnostics()) r_.diagnose({why, 0, about_, field, device_, pid_, {}, {}, pool_});
  }
  // The pool whose fields are dropped from now on.
  void set_pool(const Pool& p) noexcept { pool_ = {p.kind, p.instance}; }

  // Fails with the first reason if no record has a value left.
  template <class Records>
  [[nodiscard]] Result<void> outcome(const Records& all) const {
    if (!first_ || std::ranges::any_of(all, [](const auto& r) { return present_bits(r) != 0; })) {
      return {};
    }
    return *first_;
  }

 private:
  Reading& r_;
  std::uint32_t about_;
  Slot device_;
  std::optional<std::uint32_t> pid_;
  std::optional<PoolKey> pool_;
  std::optional<Failure> first_;
};

template <class T>
void settle(Cached<T>& of, const DeviceSource& from, const Plan& p, Result<void> outcome) {
  if (outcome) {
    of.succeeded(p.begun_ns, taken_ns(from));
  } else {
    of.failed(p.begun_ns, outcome.why(), from.rests());
  }
}

// The total of a unified pool is the host's, unless the driver has one.
void add_hosts_total(hmn::Pools& all, const Reading& r) {
  for (Pool& p : all.all()) {
    if (p.kind != PoolKind::unified || p.total || p.instance != 0) continue;
    p.total = r.host_total();
    if (p.total) p.notes |= note::mixed;
  }
}

// Returns whether what a process uses may be in the pool.
bool counts_processes(const Pool& p, const Device& of) noexcept {
  if (p.instance != 0) return false;
  if (p.kind == PoolKind::unified) return true;
  if (of.memory_kind != MemoryKind::unified) return p.is_main && p.kind == PoolKind::vram;
  return p.kind == PoolKind::vram || p.kind == PoolKind::host;
}

// Remembers the most that a process can use, which most drivers report in this reading only.
void keep_total(const hmn::Pools& all, Device& of) {
  std::uint64_t sum = 0;
  for (const Pool& p : all.all()) {
    if (!counts_processes(p, of)) continue;
    if (!p.total) return;
    sum += *p.total;
  }
  if (sum != 0) of.memory_total = sum;
}

// Returns the memory that a GPU instance takes from the others; compute instances share that of
// their GPU instance. One that claims all of it, or more, beside others has a slice at least: an
// eighth.
std::uint64_t taken_by(const DeviceCache& one, const Device& gpu, const SourceCache& all) {
  const Device& d = one.identity;
  if (!one.listed || d.parent != gpu.number || !d.instance) return 0;
  for (const DeviceCache& other : all.devices) {
    const Device& o = other.identity;
    if (!other.listed || o.parent != gpu.number || !o.instance) continue;
    if (o.instance->gpu != d.instance->gpu) continue;
    if (&other != &one) return 0;
    break;
  }
  const std::uint64_t total = d.memory_total.value_or(0);
  return total < gpu.memory_total ? total : *gpu.memory_total / 8;
}

// Returns what a partition can have of its GPU's memory. Each of AMD's may have all of it.
std::optional<std::uint64_t> most_of(const Device& d, const SourceCache& all) {
  if (!d.parent) return std::nullopt;
  const auto is_gpu = [&](const DeviceCache& a) { return d.parent == a.identity.number; };
  const auto found = std::ranges::find_if(all.devices, is_gpu);
  if (found == all.devices.end() || !found->identity.memory_total) return std::nullopt;
  const Device& gpu = found->identity;
  std::uint64_t most = *gpu.memory_total;
  if (d.from != Source::nvml || !d.instance) return most;
  for (const DeviceCache& other : all.devices) {
    const auto& instance = other.identity.instance;
    if (!instance || instance->gpu == d.instance->gpu) continue;
    most -= std::min(most, taken_by(other, gpu, all));
  }
  return most;
}

void read_pools(DeviceSource& from, const Plan& p, DeviceCache& d, const SourceCache& all,
                Reading& r) {
  hmn::Pools fresh;
  Result<void> ok = from.memory(d.identity.number, fresh, r);
  if (ok) add_hosts_total(fresh, r);
  if (ok) ok = keep_plausible(fresh, d.identity.number, r, most_of(d.identity, all));
  if (ok) keep_total(fresh, d.identity);
  if (ok) d.pools.value = fresh;
  settle(d.pools, from, p, std::move(ok));
}

void read_telemetry(DeviceSource& from, const Plan& p, DeviceCache& d, Reading& r) {
  hmn::Telemetry fresh;
  Result<void> ok = from.telemetry(d.identity.number, p.telemetry, fresh, r);
  if (ok) ok = keep_plausible(fresh, d.identity.number, r, &d.energy);
  if (ok) d.telemetry.value = fresh;
  d.telemetry_asked = p.telemetry;
  d.telemetry.is_quick = p.quick;
  settle(d.telemetry, from, p, std::move(ok));
}

void read_process(DeviceSource& from, const Plan& p, bool self, DeviceCache& d, Cached<Usage>& into,
                  Reading& r) {
  const std::uint32_t pid = self ? p.own_pid : p.pid;
  Usage fresh;
  fresh.pid = pid;
  Result<void> ok = from.process(d.identity.number, pid, self, fresh, r);
  if (ok) ok = keep_plausible(fresh, d.identity, self ? subject::self : subject::processes, r);
  if (ok) into.value = std::move(fresh);
  into.is_quick = p.quick && !self;
  settle(into, from, p, std::move(ok));
}

void read_processes(DeviceSource& from, const Plan& p, DeviceCache& d, Reading& r) {
  std::vector<Usage> fresh;
  Result<void> ok = from.processes(d.identity.number, fresh, r);
  for (Usage& row : fresh) {
    static_cast<void>(keep_plausible(row, d.identity, subject::processes, r));
  }
  if (ok) d.processes.value = std::move(fresh);
  d.processes.is_quick = p.quick;
  settle(d.processes, from, p, std::move(ok));
}

void read_metrics(DeviceSource& from, const Plan& p, DeviceCache& d, Reading& r) {
  std::vector<Metric> fresh;
  Result<void> ok = from.metrics(d.identity.number, p.slow, fresh, r);
  if (ok) keep_plausible(fresh, d.identity.number, r, &d.energy);
  if (ok) d.metrics.value = std::move(fresh);
  d.slow_asked = p.slow;
  d.metrics.is_quick = p.quick;
  settle(d.metrics, from, p, std::move(ok));
}

void read_device(DeviceSource& from, const Plan& p, DeviceCache& d, const SourceCache& all,
                 Reading& r) {
  if (p.pools) read_pools(from, p, d, all, r);
  if (p.self) read_process(from, p, true, d, d.self, r);
  if (p.pid != 0) read_process(from, p, false, d, d.process, r);
  if (p.processes) read_processes(from, p, d, r);
  if (p.telemetry != 0) read_telemetry(from, p, d, r);
}

bool is_meant(const Plan& p, const DeviceCache& d) {
  return p.only ? d.identity.number == *p.only : d.listed;
}

// Reads a part of each device that the plan is about.
void read_each(const Plan& p, SourceCache& out, Progress done,
               FunctionRef<void(DeviceCache&)> read) {
  for (DeviceCache& d : out.devices) {
    if (!is_meant(p, d)) continue;
    read(d);
    done(&d);
  }
}

void serve(DeviceSource& from, const Plan& p, SourceCache& out, Reading& r, Progress done) {
  if (Result<void> ready = from.prepare(r); !ready && ready.why().code != Status::asleep) {
    out.refused = ready.why();
    return;
  }
  if (p.list) {
    if (Result<void> ok = list(from, p, out, r); !ok) {
      out.refused = ok.why();
      return;
    }
    done(nullptr);
  }
  const std::uint64_t since_ns = continuous_ns();
  for (DeviceCache& d : out.devices) d.energy.since_ns = since_ns;
  read_each(p, out, done, [&](DeviceCache& d) { read_device(from, p, d, out, r); });
  // Read last: slow metrics of one device must not delay the memory of another.
  if (!p.metrics) return;
  read_each(p, out, done, [&](DeviceCache& d) { read_metrics(from, p, d, r); });
}

Failure out_of_memory(Source from) noexcept {
  return {Status::no_memory, from, {}, "no memory left"};
}
Failure internal_error(Source from) noexcept {
  return {Status::internal, from, {}, "internal error"};
}

}  // namespace

Result<void> keep_plausible(Pools& all, Slot device, Reading& r,
                            std::optional<std::uint64_t> most) {
  DroppedFields dropped(r, subject::pools, device);
  for (Pool& p : all.all()) {
    dropped.set_pool(p);
    drop_implausible(p, dropped, p.is_main ? most : std::nullopt);
  }
  return dropped.outcome(all.all());
}

Result<void> keep_plausible(Telemetry& t, Slot device, Reading& r, EnergyHistory* seen) {
  DroppedFields dropped(r, subject::telemetry, device);
  drop_implausible(t, dropped);
  if (seen != nullptr) drop_jumps(t, *seen, continuous_ns(), dropped);
  return dropped.outcome(std::span(&t, 1));
}

Result<void> keep_plausible(Usage& row, const Device& of, std::uint32_t about, Reading& r) {
  DroppedFields dropped(r, about, of.number, row.pid);
  drop_implausible(row, of.memory_total, dropped);
  return dropped.outcome(std::span(&row, 1));
}

void keep_plausible(std::vector<Metric>& all, Slot device, Reading& r, EnergyHistory* seen) {
  DroppedFields dropped(r, subject::metrics, device);
  drop_implausible(all, dropped);
  if (seen != nullptr) drop_jumps(all, *seen, continuous_ns(), dropped);
}

bool query(DeviceSource& from, const Plan& p, SourceCache& out, Reading& r, Progress done) {
  out.refused.reset();
  out.conclusive = false;
  try {
    serve(from, p, out, r, done);
    out.rests = from.rests();
    const bool may_close = from.finish(r);
    if (p.describe) out.condition = from.describe(*p.describe);
    return may_close;
  } catch (const std::bad_alloc&) {
    out.refused = out_of_memory(from.id());
  } catch (...) {
    out.refused = internal_error(from.id());
  }
  return true;
}

}  // namespace hmn
