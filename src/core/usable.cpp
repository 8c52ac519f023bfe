// SPDX-License-Identifier: MIT OR Apache-2.0
#include "core/usable.hpp"

#include <algorithm>

#include "core/reason.hpp"

namespace hmn {
namespace {

using Amount = std::optional<std::uint64_t>;

void lower(Amount& to, const Amount& limit) noexcept {
  if (to && limit && *to > *limit) to = limit;
}

bool fails(const Device& d) noexcept {
  return d.state == State::lost || d.state == State::unreadable || d.state == State::hung;
}

bool is_part_of_host(const Pool& p) noexcept {
  return p.kind == PoolKind::unified || p.kind == PoolKind::host;
}

void set_usable(Pool& p, const Device& of, const SystemMemory& host) {
  if (!p.usable) p.usable = p.free;
  if (!p.usable && p.kind == PoolKind::unified && host.usable) {
    p.usable = *host.usable + p.apart_free.value_or(0);
    p.notes |= note::mixed | note::estimated;
  }
  if (!p.usable && of.state == State::asleep && p.total) {
    p.usable = p.total;
    p.notes |= note::estimated;
  }
  lower(p.usable, p.total);
  lower(p.usable, p.budget_left ? p.budget_left : p.budget);
  if (!is_part_of_host(p) || !p.usable || !host.usable) return;
  const std::uint64_t most = *host.usable + p.apart_free.value_or(0);
  if (*p.usable <= most) return;
  p.usable = most;
  p.notes |= note::mixed | note::estimated;
}

}  // namespace

Result<void> read_system(HostSource& host, SystemMemory& out, WhenDropped report) {
  if (Result<void> ok = host.system(out); !ok) return ok;
  drop_implausible(out, report);
  out.usable = out.available;
  if (out.limit && !out.limit_left)
    out.limit_left = *out.limit - std::min(*out.limit, out.limit_used.value_or(0));
  lower(out.usable, out.limit_left);
  return {};
}

std::optional<std::uint64_t> total_of(HostSource& host) {
  SystemMemory memory;
  static_cast<void>(read_system(host, memory, drop_silently));
  return memory.total;
}

void set_usable(Pools& all, const Device& of, HostSource& host, std::optional<PoolKind> only) {
  SystemMemory memory;
  bool was_read = false;
  for (Pool& p : all.all()) {
    if (only && p.kind != *only) continue;
    if (is_part_of_host(p) && !was_read) {
      was_read = true;
      // Without it, the device's own values decide.
      static_cast<void>(read_system(host, memory, drop_silently));
    }
    set_usable(p, of, memory);
    if (fails(of) || is_stale(p.notes) || is_divided(of)) p.usable.reset();
  }
}

Failure why_not_usable(const Pool& p, const Device& of) {
  if (is_stale(p.notes)) {
    return {Status::timeout, p.from, {}, "its last reading is out of date"};
  }
  if (is_divided(of)) {
    return {Status::unsupported,
            p.from,
            {},
            "the device is divided into partitions, which have its memory"};
  }
  if (fails(of)) return reason_of_state(of);
  return {Status::unsupported, p.from, {}, "free memory is not reported by the driver"};
}

}  // namespace hmn
