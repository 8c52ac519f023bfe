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

using amount = std::optional<std::uint64_t>;

amount sum(amount a, amount b) noexcept {
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

void forget_used(memory_regions& m) noexcept {
  for (heap* const h : {&m.system, &m.device}) h->used = h->visible_used = std::nullopt;
  for (heap& tile : m.tiles) tile.used = tile.visible_used = std::nullopt;
}

namespace {

void set_free(pool& p) noexcept {
  if (p.total && p.used && *p.used <= *p.total) p.free = *p.total - *p.used;
}

std::uint32_t missing_of(const pool& p) noexcept {
  return (p.total ? 0U : pool_field::total) | (p.used ? 0U : pool_field::used) |
         (p.free ? 0U : pool_field::free);
}

pool pool_of(source from, pool_kind kind, const heap& h) noexcept {
  pool p;
  p.kind = kind;
  p.from = from;
  p.total = h.total;
  p.used = h.used;
  if (p.used) p.accounting = accounting::resident;
  set_free(p);
  return p;
}

}  // namespace

void heap::add(const heap& one) noexcept {
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

std::optional<memory_regions> sum_regions(std::span<const std::byte> answer, std::size_t header,
                                          heap (*read)(const raw_region&)) noexcept {
  std::uint32_t count = 0;
  if (answer.size() < header) return std::nullopt;
  std::memcpy(&count, answer.data(), sizeof count);
  answer = answer.subspan(header);
  if (count == 0 || count > answer.size() / sizeof(raw_region)) return std::nullopt;
  memory_regions all;
  for (; count != 0; --count, answer = answer.subspan(sizeof(raw_region))) {
    raw_region r;
    std::memcpy(&r, answer.data(), sizeof r);
    if (r.memory_class == 0) all.system.add(read(r));
    if (r.memory_class != 1) continue;
    const heap tile = read(r);
    if (all.device.regions < all.tiles.size()) all.tiles[all.device.regions] = tile;
    all.device.add(tile);
  }
  return all;
}

result<memory_regions> intel_driver::ask(drm::visit& v) const {
  const std::string path = v.node_path(drm::node::kind::render);
  if (path.empty()) {
    return fail(status::unsupported,
                "there is no render node in /dev to ask for the device's memory regions");
  }
  std::array<std::byte, 4096> buffer;
  const auto got = platform::ask_device(path.c_str(), d_.regions, buffer);
  if (!got) {
    return fail(status_of(got.error, status::device_lost), {path, reason_of(got.error)}, got.error);
  }
  const auto reported = d_.parse(std::span(buffer).first(got.value));
  if (!reported) {
    return with_reason(reason::not_understood,
                       fail(status::backend, {path, " answers without a memory region"}));
  }
  return *reported;
}

result<memory_regions> intel_driver::regions(drm::visit& v, known_card& k) const {
  if (v.is_asleep()) {
    return fail(status::asleep, "the device is suspended, and asking for its memory would wake it");
  }
  // Sizes are constant, and opening the node would delay the device's suspension.
  const bool reports_no_more = k.is_asked && !k.reports_used;
  if (reports_no_more) return k.sizes;
  result<memory_regions> reported = ask(v);
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
void intel_driver::add_clients(drm::visit& v, pool& p) const {
  if (p.used || v.is_asleep()) return;
  result<drm::card_use> all = v.clients();
  if (!all) return v.diagnose(all.why(), subject::pools, pool_field::used);
  const bool is_host = p.kind == pool_kind::host;
  p.used = is_host ? all->sum.host_pool : all->sum.used();
  if (!p.used) return;
  p.accounting = all->sum.resident || is_host ? accounting::resident : accounting::committed;
  p.notes |= note::lower_bound;
}

failure intel_driver::why_not_all(const result<memory_regions>& reported) const {
  if (!reported) return reported.why();
  return fail(status::permission,
              "the device's memory in use is readable with CAP_PERFMON only; what clients are seen "
              "to use is a lower bound");
}

result<void> intel_driver::own_memory(drm::visit& v, const result<memory_regions>& reported,
                                      const memory_regions& m, pools& out) const {
  pool own = pool_of(d_.from, pool_kind::vram, m.device);
  own.is_main = true;
  add_clients(v, own);
  if (!own.total && !own.used) return why_not_all(reported);
  if (!own.free) v.diagnose(why_not_all(reported), subject::pools, missing_of(own));
  out.add(own);
  if (m.device.visible) {
    heap visible;
    visible.total = m.device.visible;
    visible.used = m.device.visible_used;
    out.add(pool_of(d_.from, pool_kind::vram_visible, visible));
  }
  const std::size_t tiles = m.device.regions;
  for (std::size_t i = 0; tiles > 1 && tiles <= m.tiles.size() && i < tiles; ++i) {
    pool part = pool_of(d_.from, pool_kind::vram, m.tiles[i]);
    part.instance = static_cast<std::uint32_t>(i + 1);
    out.add(part);
  }
  if (!d_.counts_system || !m.system.total) return {};
  pool host = pool_of(d_.from, pool_kind::host, m.system);
  add_clients(v, host);
  out.add(host);
  return {};
}

// The total is the host's: the system region is RAM, not the device's memory.
result<void> intel_driver::unified_memory(drm::visit& v, const result<memory_regions>& reported,
                                          pools& out) const {
  pool p;
  p.kind = pool_kind::unified;
  p.from = d_.from;
  p.is_main = true;
  if (reported && d_.counts_system) p.used = reported->system.used;
  if (p.used) p.accounting = accounting::resident;
  const bool is_whole = p.used.has_value();
  add_clients(v, p);
  if (!is_whole && (d_.counts_system || v.is_asleep())) {
    v.diagnose(why_not_all(reported), subject::pools, missing_of(p));
  } else if (!p.used) {
    v.diagnose(fail(status::unsupported, "no client of the device reports its memory"),
               subject::pools, missing_of(p));
  }
  out.add(p);
  return {};
}

result<void> intel_driver::memory(drm::visit& v, pools& out) {
  known_card& k = of(v.of());
  // i915 reports only the size of RAM.
  const bool asks = !k.is_asked || !k.is_integrated || d_.counts_system || v.is_asleep();
  const result<memory_regions> reported = asks ? regions(v, k) : result<memory_regions>(k.sizes);
  if (k.is_integrated) return unified_memory(v, reported, out);
  return own_memory(v, reported, reported ? *reported : k.sizes, out);
}

}  // namespace hmn::intel
