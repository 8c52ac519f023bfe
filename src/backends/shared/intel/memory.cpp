// SPDX-License-Identifier: MIT OR Apache-2.0
#include "backends/shared/intel/memory.hpp"

#include <array>
#include <cerrno>
#include <cstring>

#include "backends/shared/intel/driver.hpp"
#include "model/failure.hpp"
#include "model/message_text.hpp"
#include "model/scan.hpp"

namespace hmn::intel {
namespace {

using Amount = std::optional<std::uint64_t>;

Amount sum(Amount a, Amount b) noexcept {
  return a && b ? scan::sum(*a, *b) : std::nullopt;
}

std::string_view reason_of(int error) noexcept {
  switch (error) {
    case EACCES:
    case EPERM:
      return " may not be opened by this user: it takes the group of the node, mostly render";
    case EOPNOTSUPP:
      return " reports no memory regions: this kernel's driver does not support the query";
    case ENODEV:
    case ENXIO:
    case ENOENT:
      return " is gone with its device";
    default:
      return " cannot be asked for its memory regions";
  }
}

}  // namespace

void forget_used(MemoryRegions& m) noexcept {
  for (Heap* const h : {&m.system, &m.device}) h->used = h->visible_used = std::nullopt;
  for (Heap& tile : m.tiles) tile.used = tile.visible_used = std::nullopt;
}

namespace {

void set_free(Pool& p) noexcept {
  if (p.total && p.used && *p.used <= *p.total) p.free = *p.total - *p.used;
}

std::uint32_t missing_of(const Pool& p) noexcept {
  return (p.total ? 0U : pool_field::total) | (p.used ? 0U : pool_field::used) |
         (p.free ? 0U : pool_field::free);
}

Pool pool_of(Source from, PoolKind kind, const Heap& h) noexcept {
  Pool p;
  p.kind = kind;
  p.from = from;
  p.total = h.total;
  p.used = h.used;
  if (p.used) p.accounting = Accounting::resident;
  set_free(p);
  return p;
}

}  // namespace

void Heap::add(const Heap& one) noexcept {
  if (regions++ == 0) {
    total = one.total;
    used = one.used;
    visible = one.visible;
    visible_used = one.visible_used;
    return;
  }
  total = sum(total, one.total);
  used = sum(used, one.used);
  visible = sum(visible, one.visible);
  visible_used = sum(visible_used, one.visible_used);
}

std::optional<MemoryRegions> sum_regions(std::span<const std::byte> answer, std::size_t header,
                                         Heap (*read)(const RawRegion&)) noexcept {
  std::uint32_t count = 0;
  if (answer.size() < header) return std::nullopt;
  std::memcpy(&count, answer.data(), sizeof count);
  answer = answer.subspan(header);
  if (count == 0 || count > answer.size() / sizeof(RawRegion)) return std::nullopt;
  MemoryRegions all;
  for (; count != 0; --count, answer = answer.subspan(sizeof(RawRegion))) {
    RawRegion r;
    std::memcpy(&r, answer.data(), sizeof r);
    if (r.memory_class == 0) all.system.add(read(r));
    if (r.memory_class != 1) continue;
    const Heap tile = read(r);
    if (all.device.regions < all.tiles.size()) all.tiles[all.device.regions] = tile;
    all.device.add(tile);
  }
  return all;
}

Result<MemoryRegions> IntelDriver::ask(drm::Visit& v) const {
  const std::string path = v.node_path(drm::Node::Kind::render);
  if (path.empty()) {
    return fail(Status::unsupported,
                "there is no render node in /dev to ask for the device's memory regions");
  }
  std::array<std::byte, 4096> buffer;
  const auto got = platform::ask_device(path.c_str(), d_.regions, buffer);
  if (!got) {
    return fail(status_of(got.error, Status::device_lost), {path, reason_of(got.error)}, got.error);
  }
  const auto reported = d_.parse(std::span(buffer).first(got.value));
  if (!reported) {
    return with_reason(Reason::not_understood,
                       fail(Status::backend, {path, " answers without a memory region"}));
  }
  return *reported;
}

Result<MemoryRegions> IntelDriver::regions(drm::Visit& v, KnownCard& k) const {
  if (v.is_asleep()) {
    return fail(Status::asleep, "the device is suspended, and asking for its memory would wake it");
  }
  // Sizes are constant, and opening the node would delay the device's suspension.
  const bool reports_no_more = k.is_asked && !k.reports_used;
  if (reports_no_more) return k.sizes;
  Result<MemoryRegions> reported = ask(v);
  if (!reported) return reported;
  k.is_asked = true;
  k.is_integrated = reported->device.regions == 0;
  k.doubt = 0;
  k.reports_used = (k.is_integrated ? reported->system : reported->device).used.has_value();
  k.sizes = *reported;
  forget_used(k.sizes);
  return reported;
}

// Adds up the clients' usage if the driver does not report the total.
void IntelDriver::add_clients(drm::Visit& v, Pool& p) const {
  if (p.used || v.is_asleep()) return;
  Result<drm::CardUse> all = v.clients();
  if (!all) return v.diagnose(all.why(), subject::pools, pool_field::used);
  const bool is_host = p.kind == PoolKind::host;
  p.used = is_host ? all->sum.host_pool : all->sum.used();
  if (!p.used) return;
  p.accounting = all->sum.resident || is_host ? Accounting::resident : Accounting::committed;
  p.notes |= note::lower_bound;
}

Failure IntelDriver::why_not_all(const Result<MemoryRegions>& reported) const {
  if (!reported) return reported.why();
  return fail(Status::permission,
              "the device's memory in use is readable with CAP_PERFMON only; what clients are seen "
              "to use is a lower bound");
}

Result<void> IntelDriver::own_memory(drm::Visit& v, const Result<MemoryRegions>& reported,
                                     const MemoryRegions& m, Pools& out) const {
  Pool own = pool_of(d_.from, PoolKind::vram, m.device);
  own.is_main = true;
  add_clients(v, own);
  if (!own.total && !own.used) return why_not_all(reported);
  if (!own.free) v.diagnose(why_not_all(reported), subject::pools, missing_of(own));
  out.add(own);
  if (m.device.visible) {
    Heap visible;
    visible.total = m.device.visible;
    visible.used = m.device.visible_used;
    out.add(pool_of(d_.from, PoolKind::vram_visible, visible));
  }
  const std::size_t tiles = m.device.regions;
  for (std::size_t i = 0; tiles > 1 && tiles <= m.tiles.size() && i < tiles; ++i) {
    Pool part = pool_of(d_.from, PoolKind::vram, m.tiles[i]);
    part.instance = static_cast<std::uint32_t>(i + 1);
    out.add(part);
  }
  if (!d_.counts_system || !m.system.total) return {};
  Pool host = pool_of(d_.from, PoolKind::host, m.system);
  add_clients(v, host);
  out.add(host);
  return {};
}

// The total is the host's: the system region is RAM, not the device's memory.
Result<void> IntelDriver::unified_memory(drm::Visit& v, const Result<MemoryRegions>& reported,
                                         Pools& out) const {
  Pool p;
  p.kind = PoolKind::unified;
  p.from = d_.from;
  p.is_main = true;
  if (reported && d_.counts_system) p.used = reported->system.used;
  if (p.used) p.accounting = Accounting::resident;
  const bool is_whole = p.used.has_value();
  add_clients(v, p);
  if (!is_whole && (d_.counts_system || v.is_asleep())) {
    v.diagnose(why_not_all(reported), subject::pools, missing_of(p));
  } else if (!p.used) {
    v.diagnose(fail(Status::unsupported, "no client of the device reports its memory"),
               subject::pools, missing_of(p));
  }
  out.add(p);
  return {};
}

Result<void> IntelDriver::memory(drm::Visit& v, Pools& out) {
  KnownCard& k = of(v.of());
  // i915 reports only the size of RAM.
  const bool asks = !k.is_asked || !k.is_integrated || d_.counts_system || v.is_asleep();
  const Result<MemoryRegions> reported = asks ? regions(v, k) : Result<MemoryRegions>(k.sizes);
  if (k.is_integrated) return unified_memory(v, reported, out);
  return own_memory(v, reported, reported ? *reported : k.sizes, out);
}

}  // namespace hmn::intel
