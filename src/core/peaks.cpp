// SPDX-License-Identifier: MIT OR Apache-2.0
#include "core/peaks.hpp"

#include <algorithm>

namespace hmn {
namespace {

constexpr std::uint64_t key_of(std::uint32_t device_index, std::uint32_t pid) noexcept {
  return std::uint64_t{device_index} << 32 | pid;
}

std::size_t place_of(const std::vector<peak>& entries, std::uint64_t key) noexcept {
  std::size_t low = 0;
  std::size_t high = entries.size();
  while (low < high) {
    const std::size_t middle = low + (high - low) / 2;
    if (key_of(entries[middle].device_index, entries[middle].pid) < key) {
      low = middle + 1;
    } else {
      high = middle;
    }
  }
  return low;
}

bool is_at(const std::vector<peak>& entries, std::size_t place, std::uint64_t key) noexcept {
  return place < entries.size() && key_of(entries[place].device_index, entries[place].pid) == key;
}

bool raise(std::optional<std::uint64_t>& highest, const std::optional<std::uint64_t>& now) {
  if (!now || (highest && *highest >= *now)) return false;
  highest = now;
  return true;
}

template <class T>
void raise_used(peak& to, const T& reading, std::uint64_t now) {
  if (!raise(to.used, reading.used)) return;
  to.from = reading.from;
  to.notes = reading.notes;
  to.accounting = reading.accounting;
  to.used_monotonic_ns = now;
}

}  // namespace

peak& peaks::entry_of(std::uint32_t device_index, std::uint32_t pid) {
  const std::uint64_t key = key_of(device_index, pid);
  const std::size_t place = place_of(entries_, key);
  if (is_at(entries_, place, key)) return entries_[place];
  peak fresh;
  fresh.device_index = device_index;
  fresh.pid = pid;
  return *entries_.insert(entries_.begin() + static_cast<std::ptrdiff_t>(place), fresh);
}

const peak* peaks::find(std::uint32_t device_index, std::uint32_t pid) const noexcept {
  const std::uint64_t key = key_of(device_index, pid);
  const std::size_t place = place_of(entries_, key);
  return is_at(entries_, place, key) ? &entries_[place] : nullptr;
}

void peaks::observe_pool(const pool& p, std::uint64_t now) {
  peak& to = entry_of(p.device_index, 0);
  if (p.is_main) raise_used(to, p, now);
  if (p.kind == pool_kind::host) raise(to.host_pool, p.used);
}

void peaks::observe_usage(const usage& row, std::uint64_t now) {
  if (row.pid == 0) return;
  peak& to = entry_of(row.device_index, row.pid);
  if (to.start_unix_ns && row.start_unix_ns && *to.start_unix_ns != *row.start_unix_ns) {
    to = {};  // the pid was reused
    to.device_index = row.device_index;
    to.pid = row.pid;
  }
  if (row.start_unix_ns) to.start_unix_ns = row.start_unix_ns;
  to.seen_monotonic_ns = now;
  raise_used(to, row, now);
  raise(to.host_pool, row.host_pool);
  raise(to.host_resident, row.host_resident);
}

void peaks::observe(const snapshot& from) {
  const std::uint64_t now = from.monotonic_ns;
  for (const snapshot_device& d : from.devices) {
    entry_of(d.identity->index, 0).seen_monotonic_ns = now;
    if (d.self) observe_usage(*d.self, now);
  }
  for (const pool& p : from.pools) observe_pool(p, now);
  for (const usage& u : from.usages) observe_usage(u, now);
  if (entries_.size() <= most) return;
  std::erase_if(entries_, [&](const peak& p) { return p.pid != 0 && p.seen_monotonic_ns != now; });
}

}  // namespace hmn
