// SPDX-License-Identifier: MIT OR Apache-2.0
#include "core/query.hpp"

#include <algorithm>
#include <new>
#include <span>

#include "core/identities.hpp"
#include "model/function_ref.hpp"
#include "model/pci_address.hpp"
#include "model/plausible.hpp"
#include "model/record.hpp"
#include "platform/clock.hpp"

namespace hmn {
namespace {

using platform::monotonic_ns;

// A PCI id is no name, which another source may have.
void drop_id_for_name(device& d, reading& r) {
  if (!is_pci_id(d.name.view())) return;
  failure why{status::unsupported,
              d.from,
              {},
              {"the driver has no name for this device, only \"", d.name.view(), "\""}};
  d.name = {};
  if (r.wants_diagnostics()) {
    r.diagnose({why, 0, subject::devices, device_field::name, d.number, {}, {}, {}});
  }
}

result<void> list(device_source& from, const plan& p, source_cache& out, reading& r) {
  out.found.clear();
  result<void> ok = from.devices(out.found, r);
  r.answered();
  if (!ok) return ok;
  check_identities(out.found, out, r);
  for (device_cache& d : out.devices) d.listed = false;
  for (device& d : out.found) {
    drop_id_for_name(d, r);
    device_cache& entry = out.entry_of(d.number);
    if (!d.memory_total) d.memory_total = entry.identity.memory_total;
    entry.identity = d;
    entry.listed = true;
  }
  out.listed_ns = p.begun_ns;
  return {};
}

// Turns dropped fields into diagnostics.
class dropped_fields {
 public:
  dropped_fields(reading& r, std::uint32_t about, slot device,
                 std::optional<std::uint32_t> pid = {}) noexcept
      : r_(r), about_(about), device_(device), pid_(pid) {}

  void operator()(std::uint32_t field, const failure& why) {
    if (!first_) first_ = why;
    if (r_.wants_diagnostics()) r_.diagnose({why, 0, about_, field, device_, pid_, {}, {}});
  }

  // Returns the first reason where that left no record with a value.
  template <class Records>
  [[nodiscard]] result<void> outcome(const Records& all) const {
    if (!first_ || std::ranges::any_of(all, [](const auto& r) { return present_bits(r) != 0; })) {
      return {};
    }
    return *first_;
  }

 private:
  reading& r_;
  std::uint32_t about_;
  slot device_;
  std::optional<std::uint32_t> pid_;
  std::optional<failure> first_;
};

template <class T>
void settle(cached<T>& of, const device_source& from, const plan& p, result<void> outcome) {
  if (outcome) {
    of.succeeded(p.begun_ns, from.taken_ns() != 0 ? from.taken_ns() : monotonic_ns());
  } else {
    of.failed(p.begun_ns, outcome.why(), from.rests());
  }
}

// Keeps what a process can use at most: most drivers have it in this reading only.
void keep_total(const hmn::pools& all, device& of) {
  const pool* const main = all.find(pool_kind::main);
  if (main != nullptr && main->kind == pool_kind::vram && main->total) {
    of.memory_total = main->total;
  }
}

// Returns the memory that a GPU instance takes from the others; compute instances share that of
// their GPU instance. One with more than the GPU takes nothing.
std::uint64_t taken_by(const device_cache& one, const device& gpu, const source_cache& all) {
  const device& d = one.identity;
  if (!one.listed || d.parent != gpu.number || !d.instance) return 0;
  for (const device_cache& other : all.devices) {
    const device& o = other.identity;
    if (!other.listed || o.parent != gpu.number || !o.instance) continue;
    if (o.instance->gpu != d.instance->gpu) continue;
    if (&other != &one) return 0;
    break;
  }
  const std::uint64_t total = d.memory_total.value_or(0);
  return total <= gpu.memory_total ? total : 0;
}

// Returns what a partition can have of its GPU's memory. Each of AMD's may have all of it.
std::optional<std::uint64_t> most_of(const device& d, const source_cache& all) {
  if (!d.parent) return std::nullopt;
  const auto is_gpu = [&](const device_cache& a) { return d.parent == a.identity.number; };
  const auto found = std::ranges::find_if(all.devices, is_gpu);
  if (found == all.devices.end() || !found->identity.memory_total) return std::nullopt;
  const device& gpu = found->identity;
  std::uint64_t most = *gpu.memory_total;
  if (d.from != source::nvml || !d.instance) return most;
  for (const device_cache& other : all.devices) {
    const auto& instance = other.identity.instance;
    if (!instance || instance->gpu == d.instance->gpu) continue;
    most -= std::min(most, taken_by(other, gpu, all));
  }
  return most;
}

void read_pools(device_source& from, const plan& p, device_cache& d, const source_cache& all,
                reading& r) {
  hmn::pools fresh;
  result<void> ok = from.memory(d.identity.number, fresh, r);
  if (ok) ok = keep_plausible(fresh, d.identity.number, r, most_of(d.identity, all));
  if (ok) keep_total(fresh, d.identity);
  if (ok) d.pools.value = fresh;
  settle(d.pools, from, p, std::move(ok));
}

void read_telemetry(device_source& from, const plan& p, device_cache& d, reading& r) {
  hmn::telemetry fresh;
  d.telemetry_lacks = 0;
  result<void> ok = from.telemetry(d.identity.number, p.telemetry, fresh, r);
  if (ok) ok = keep_plausible(fresh, d.identity.number, r, &d.energy);
  if (ok) d.telemetry.value = fresh;
  d.telemetry_asked = p.telemetry;
  d.telemetry.is_quick = p.quick;
  settle(d.telemetry, from, p, std::move(ok));
}

void read_process(device_source& from, const plan& p, bool self, device_cache& d,
                  cached<usage>& into, reading& r) {
  const std::uint32_t pid = self ? p.own_pid : p.pid;
  usage fresh;
  fresh.pid = pid;
  result<void> ok = from.process(d.identity.number, pid, self, fresh, r);
  if (ok) ok = keep_plausible(fresh, d.identity, self ? subject::self : subject::processes, r);
  if (ok) into.value = std::move(fresh);
  into.is_quick = p.quick && !self;
  settle(into, from, p, std::move(ok));
}

void read_processes(device_source& from, const plan& p, device_cache& d, reading& r) {
  std::vector<usage> fresh;
  result<void> ok = from.processes(d.identity.number, fresh, r);
  for (usage& row : fresh) {
    static_cast<void>(keep_plausible(row, d.identity, subject::processes, r));
  }
  if (ok) d.processes.value = std::move(fresh);
  d.processes.is_quick = p.quick;
  settle(d.processes, from, p, std::move(ok));
}

void read_metrics(device_source& from, const plan& p, device_cache& d, reading& r) {
  std::vector<metric> fresh;
  result<void> ok = from.metrics(d.identity.number, p.slow, fresh, r);
  if (ok) keep_plausible(fresh, d.identity.number, r, &d.energy);
  if (ok) d.metrics.value = std::move(fresh);
  d.slow_asked = p.slow;
  d.metrics.is_quick = p.quick;
  settle(d.metrics, from, p, std::move(ok));
}

void read_device(device_source& from, const plan& p, device_cache& d, const source_cache& all,
                 reading& r) {
  if (p.pools) read_pools(from, p, d, all, r);
  if (p.self) read_process(from, p, true, d, d.self, r);
  if (p.pid != 0) read_process(from, p, false, d, d.process, r);
  if (p.processes) read_processes(from, p, d, r);
  if (p.telemetry != 0) read_telemetry(from, p, d, r);
}

bool is_meant(const plan& p, const device_cache& d) {
  return p.only ? d.identity.number == *p.only : d.listed;
}

// Reads a part of each device that the plan is about.
void read_each(const plan& p, source_cache& out, progress done,
               function_ref<void(device_cache&)> read) {
  const std::size_t before = out.diagnostics.size();
  for (device_cache& d : out.devices) {
    if (!is_meant(p, d)) continue;
    read(d);
    done(&d);
    // Devices of one source mostly lack the same: reserves for all at once.
    if (p.only || &d != out.devices.data()) continue;
    const std::size_t of_one = out.diagnostics.size() - before;
    out.diagnostics.reserve(before + of_one * out.devices.size());
  }
}

void serve(device_source& from, const plan& p, source_cache& out, reading& r, progress done) {
  if (result<void> ready = from.prepare(r); !ready && ready.why().code != status::asleep) {
    out.refused = ready.why();
    return;
  }
  if (p.list) {
    if (result<void> ok = list(from, p, out, r); !ok) {
      out.refused = ok.why();
      return;
    }
    done(nullptr);
  }
  read_each(p, out, done, [&](device_cache& d) { read_device(from, p, d, out, r); });
  // Read last: slow metrics of one device must not delay the memory of another.
  if (!p.metrics) return;
  read_each(p, out, done, [&](device_cache& d) { read_metrics(from, p, d, r); });
}

// Text short enough to be stored without an allocation, which may fail here.
failure out_of_memory(source from) noexcept {
  return {status::no_memory, from, {}, "no memory left"};
}
failure internal_error(source from) noexcept {
  return {status::internal, from, {}, "internal error"};
}

}  // namespace

result<void> keep_plausible(pools& all, slot device, reading& r,
                            std::optional<std::uint64_t> most) {
  dropped_fields dropped(r, subject::pools, device);
  for (pool& p : all.all()) drop_implausible(p, dropped, p.is_main ? most : std::nullopt);
  return dropped.outcome(all.all());
}

result<void> keep_plausible(telemetry& t, slot device, reading& r, energy_history* seen) {
  dropped_fields dropped(r, subject::telemetry, device);
  drop_implausible(t, dropped);
  if (seen != nullptr) drop_jumps(t, *seen, monotonic_ns(), dropped);
  return dropped.outcome(std::span(&t, 1));
}

result<void> keep_plausible(usage& row, const device& of, std::uint32_t about, reading& r) {
  dropped_fields dropped(r, about, of.number, row.pid);
  drop_implausible(row, of.memory_total, dropped);
  return dropped.outcome(std::span(&row, 1));
}

void keep_plausible(std::vector<metric>& all, slot device, reading& r, energy_history* seen) {
  dropped_fields dropped(r, subject::metrics, device);
  drop_implausible(all, dropped);
  if (seen != nullptr) drop_jumps(all, *seen, monotonic_ns(), dropped);
}

bool query(device_source& from, const plan& p, source_cache& out, reading& r, progress done) {
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
