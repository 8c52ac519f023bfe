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

Amount add_amounts(Amount a, Amount b) noexcept {
  return a && b ? scan::checked_add(*a, *b) : std::nullopt;
}

std::string_view describe_error(int error) noexcept {
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
      return " does not answer the query of its memory regions";
  }
}

}  // namespace

void clear_used(MemoryRegions& regions) noexcept {
  for (Heap* const heap : {&regions.system, &regions.device})
    heap->used = heap->visible_used = std::nullopt;
  for (Heap& tile : regions.tiles) tile.used = tile.visible_used = std::nullopt;
}

namespace {

void set_free(Pool& pool) noexcept {
  if (pool.total && pool.used && *pool.used <= *pool.total) pool.free = *pool.total - *pool.used;
}

std::uint32_t find_missing_fields(const Pool& pool) noexcept {
  return (pool.total ? 0U : pool_field::total) | (pool.used ? 0U : pool_field::used) |
         (pool.free ? 0U : pool_field::free);
}

Pool make_pool(Source source, PoolKind kind, const Heap& heap) noexcept {
  Pool pool;
  pool.kind = kind;
  pool.source = source;
  pool.total = heap.total;
  pool.used = heap.used;
  if (pool.used) pool.accounting = Accounting::resident;
  set_free(pool);
  return pool;
}

}  // namespace

void Heap::add(const Heap& heap) noexcept {
  if (region_count++ == 0) {
    total = heap.total;
    used = heap.used;
    visible = heap.visible;
    visible_used = heap.visible_used;
    return;
  }
  total = add_amounts(total, heap.total);
  used = add_amounts(used, heap.used);
  visible = add_amounts(visible, heap.visible);
  visible_used = add_amounts(visible_used, heap.visible_used);
}

std::optional<MemoryRegions> sum_regions(std::span<const std::byte> answer, std::size_t header_size,
                                         Heap (*make_heap)(const RawRegion&)) noexcept {
  std::uint32_t count = 0;
  if (answer.size() < header_size) return std::nullopt;
  std::memcpy(&count, answer.data(), sizeof count);
  answer = answer.subspan(header_size);
  if (count == 0 || count > answer.size() / sizeof(RawRegion)) return std::nullopt;
  MemoryRegions regions;
  for (; count != 0; --count, answer = answer.subspan(sizeof(RawRegion))) {
    RawRegion region;
    std::memcpy(&region, answer.data(), sizeof region);
    if (region.memory_class == 0) regions.system.add(make_heap(region));
    if (region.memory_class != 1) continue;
    const Heap tile = make_heap(region);
    if (regions.device.region_count < regions.tiles.size())
      regions.tiles[regions.device.region_count] = tile;
    regions.device.add(tile);
  }
  return regions;
}

Result<MemoryRegions> IntelDriver::query_regions(drm::Visit& visit) const {
  const std::string path = visit.node_path(drm::Node::Kind::render);
  if (path.empty()) {
    return fail(Status::unsupported, "no render node in /dev to query the device's memory regions");
  }
  std::array<std::byte, 4096> buffer;
  const auto result = platform::query_device(path.c_str(), traits_.regions_query, buffer);
  if (!result) {
    return fail(translate_errno(result.error, Status::device_lost),
                {path, describe_error(result.error)}, result.error);
  }
  const auto regions = traits_.parse(std::span(buffer).first(result.value));
  if (!regions) {
    return with_reason(Reason::not_understood,
                       fail(Status::backend, {path, " answers without a memory region"}));
  }
  return *regions;
}

Result<MemoryRegions> IntelDriver::read_regions(drm::Visit& visit, CardState& state) const {
  if (visit.is_asleep()) {
    return fail(Status::asleep, "the device is suspended, and asking for its memory would wake it");
  }
  // Sizes are constant, and opening the node would delay the device's suspension.
  const bool has_sizes_only = state.has_sizes && !state.reports_used;
  if (has_sizes_only) return state.sizes;
  Result<MemoryRegions> regions = query_regions(visit);
  if (!regions) return regions;
  state.has_sizes = true;
  state.is_integrated = regions->device.region_count == 0;
  state.form_error = 0;
  state.reports_used = (state.is_integrated ? regions->system : regions->device).used.has_value();
  state.sizes = *regions;
  clear_used(state.sizes);
  return regions;
}

// Adds up the clients' usage if the driver does not report the total.
void IntelDriver::add_clients(drm::Visit& visit, Pool& pool) const {
  if (pool.used || visit.is_asleep()) return;
  Result<drm::CardUse> card_use = visit.clients();
  if (!card_use) return visit.diagnose(card_use.failure(), subject::pools, pool_field::used);
  const bool is_host = pool.kind == PoolKind::host;
  pool.used = is_host ? card_use->sum.host_pool : card_use->sum.used();
  if (!pool.used) return;
  pool.accounting =
      card_use->sum.resident || is_host ? Accounting::resident : Accounting::committed;
  pool.notes |= note::lower_bound;
}

Failure IntelDriver::make_incomplete_failure(const Result<MemoryRegions>& regions) const {
  if (!regions) return regions.failure();
  return fail(Status::permission,
              "the device's memory in use is readable with CAP_PERFMON only; what clients are seen "
              "to use is a lower bound");
}

Result<void> IntelDriver::read_dedicated_memory(drm::Visit& visit, const Result<MemoryRegions>& regions,
                                          const MemoryRegions& sizes, PoolList& pools) const {
  Pool pool = make_pool(traits_.source, PoolKind::vram, sizes.device);
  pool.is_main = true;
  add_clients(visit, pool);
  if (!pool.total && !pool.used) return make_incomplete_failure(regions);
  if (!pool.free)
    visit.diagnose(make_incomplete_failure(regions), subject::pools, find_missing_fields(pool));
  pools.add(pool);
  if (sizes.device.visible) {
    Heap visible;
    visible.total = sizes.device.visible;
    visible.used = sizes.device.visible_used;
    pools.add(make_pool(traits_.source, PoolKind::vram_visible, visible));
  }
  const std::size_t tiles = sizes.device.region_count;
  for (std::size_t i = 0; tiles > 1 && tiles <= sizes.tiles.size() && i < tiles; ++i) {
    Pool tile = make_pool(traits_.source, PoolKind::vram, sizes.tiles[i]);
    tile.instance = static_cast<std::uint32_t>(i + 1);
    pools.add(tile);
  }
  if (!traits_.counts_system || !sizes.system.total) return {};
  Pool host = make_pool(traits_.source, PoolKind::host, sizes.system);
  add_clients(visit, host);
  pools.add(host);
  return {};
}

// The total is the host's: the system region is RAM, not the device's memory.
Result<void> IntelDriver::read_unified_memory(drm::Visit& visit,
                                              const Result<MemoryRegions>& regions,
                                              PoolList& pools) const {
  Pool pool;
  pool.kind = PoolKind::unified;
  pool.source = traits_.source;
  pool.is_main = true;
  if (regions && traits_.counts_system) pool.used = regions->system.used;
  if (pool.used) pool.accounting = Accounting::resident;
  const bool is_complete = pool.used.has_value();
  add_clients(visit, pool);
  if (!is_complete && (traits_.counts_system || visit.is_asleep())) {
    visit.diagnose(make_incomplete_failure(regions), subject::pools, find_missing_fields(pool));
  } else if (!pool.used) {
    visit.diagnose(fail(Status::unsupported, "no client of the device reports its memory"),
                   subject::pools, find_missing_fields(pool));
  }
  pools.add(pool);
  return {};
}

Result<void> IntelDriver::memory(drm::Visit& visit, PoolList& pools) {
  CardState& state = find_or_add_state(visit.card());
  // i915 reports only the size of RAM.
  const bool must_query =
      !state.has_sizes || !state.is_integrated || traits_.counts_system || visit.is_asleep();
  const Result<MemoryRegions> regions =
      must_query ? read_regions(visit, state) : Result<MemoryRegions>(state.sizes);
  if (state.is_integrated) return read_unified_memory(visit, regions, pools);
  return read_dedicated_memory(visit, regions, regions ? *regions : state.sizes, pools);
}

}  // namespace hmn::intel
