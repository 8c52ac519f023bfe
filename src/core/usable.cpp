// SPDX-License-Identifier: MIT OR Apache-2.0
#include "core/usable.hpp"

#include <algorithm>

#include "core/reason.hpp"

namespace hmn {
namespace {

using Amount = std::optional<std::uint64_t>;

void cap(Amount& value, const Amount& limit) noexcept {
  if (value && limit && *value > *limit) value = limit;
}

bool has_failed(const Device& d) noexcept {
  return d.state == State::lost || d.state == State::unreadable || d.state == State::hung;
}

bool is_part_of_host(const Pool& p) noexcept {
  return p.kind == PoolKind::unified || p.kind == PoolKind::host;
}

void set_usable(Pool& pool, const Device& device, const SystemMemory& host) {
  if (!pool.usable) pool.usable = pool.free;
  if (!pool.usable && pool.kind == PoolKind::unified && host.usable) {
    pool.usable = *host.usable + pool.carveout_free.value_or(0);
    pool.notes |= note::mixed | note::estimated;
  }
  if (!pool.usable && device.state == State::asleep && pool.total) {
    pool.usable = pool.total;
    pool.notes |= note::estimated;
  }
  cap(pool.usable, pool.total);
  cap(pool.usable, pool.budget_left ? pool.budget_left : pool.budget);
  if (!is_part_of_host(pool) || !pool.usable || !host.usable) return;
  const std::uint64_t max_usable = *host.usable + pool.carveout_free.value_or(0);
  if (*pool.usable <= max_usable) return;
  pool.usable = max_usable;
  pool.notes |= note::mixed | note::estimated;
}

}  // namespace

Result<void> read_system(HostSource& host, SystemMemory& out, DropHandler report_dropped) {
  if (Result<void> ok = host.system(out); !ok) return ok;
  drop_implausible(out, report_dropped);
  out.usable = out.available;
  if (out.limit && !out.limit_left)
    out.limit_left = *out.limit - std::min(*out.limit, out.limit_used.value_or(0));
  cap(out.usable, out.limit_left);
  return {};
}

std::optional<std::uint64_t> read_total(HostSource& host) {
  SystemMemory memory;
  static_cast<void>(read_system(host, memory, drop_silently));
  return memory.total;
}

void set_usable(PoolList& pools, const Device& device, HostSource& host,
                std::optional<PoolKind> kind) {
  SystemMemory memory;
  bool was_read = false;
  for (Pool& pool : pools.all()) {
    if (kind && pool.kind != *kind) continue;
    if (is_part_of_host(pool) && !was_read) {
      was_read = true;
      // If it fails, only the device's own values count.
      static_cast<void>(read_system(host, memory, drop_silently));
    }
    set_usable(pool, device, memory);
    if (has_failed(device) || is_stale(pool.notes) || is_divided(device)) pool.usable.reset();
  }
}

Failure unusable_failure(const Pool& pool, const Device& device) {
  if (is_stale(pool.notes)) {
    return {Status::timeout, pool.source, {}, "its last reading is out of date"};
  }
  if (is_divided(device)) {
    return {Status::unsupported,
            pool.source,
            {},
            "the device is divided into partitions, which have its memory"};
  }
  if (has_failed(device)) return state_failure(device);
  return {Status::unsupported, pool.source, {}, "free memory is not reported by the driver"};
}

}  // namespace hmn
