// SPDX-License-Identifier: MIT OR Apache-2.0
#include "core/merge.hpp"

#include <algorithm>

#include "model/plausible.hpp"
#include "model/record.hpp"

namespace hmn {
namespace {

constexpr std::uint32_t percentages =
    telemetry_field::gpu_busy_percent | telemetry_field::memory_busy_percent |
    telemetry_field::encoder_busy_percent | telemetry_field::decoder_busy_percent;

template <class T>
bool take_known(T& into, const T& from) {
  if (into != T{} || from == T{}) return false;
  into = from;
  return true;
}

// Returns the subject's value in this reading, or the reason for its absence.
template <class T>
bool read(merged_device& into, std::uint32_t subject_bit, const cached<T>& from, source id,
          const moment& m, const limits& l, T& out) {
  result<void> ok = read_part(from, m, l, id, out);
  if (ok) {
    into.answered |= subject_bit;
    return true;
  }
  std::optional<failure>& missing = into.missing_of(subject_bit);
  if (!missing && (into.answered & subject_bit) == 0) missing = ok.why();
  return false;
}

// Adds pools and fields that the preferred sources lack.
void add_pool(merged_device& into, pool fresh) {
  fresh.device_index = into.identity.index;
  for (pool& known : into.pools.all()) {
    if (known.from == fresh.from) continue;
    if (known.kind == fresh.kind && known.instance == fresh.instance) return merge(known, fresh);
    if (known.kind == pool_kind::unified) return;
    fresh.is_main = fresh.is_main && !known.is_main;
  }
  into.pools.add(fresh);
}

void add_pools(merged_device& into, const device_cache& from, const moment& m, const limits& l) {
  hmn::pools all;
  if (!read(into, subject::pools, from.pools, from.identity.from, m, l, all)) return;
  for (const pool& fresh : all.all()) {
    add_pool(into, fresh);
    into.found |= subject::pools;
  }
}

void add_self(merged_device& into, const device_cache& from, const moment& m, const limits& l) {
  if ((into.found & subject::self) != 0) return;
  usage own;
  if (!read(into, subject::self, from.self, from.identity.from, m, l, own)) return;
  const bool is_known = own.used.has_value();
  if (!into.self || is_known) into.self = std::move(own);
  into.self->device_index = into.identity.index;
  if (is_known) into.found |= subject::self;
}

void add_process(merged_device& into, const device_cache& from, const moment& m, const limits& l) {
  if (into.process) return;
  usage row;
  if (!read(into, subject::processes, from.process, from.identity.from, m, l, row)) return;
  into.process = std::move(row);
  into.process->device_index = into.identity.index;
  into.found |= subject::processes;
}

void add_processes(merged_device& into, const device_cache& from, const moment& m,
                   const limits& l) {
  if ((into.found & subject::processes) != 0) return;
  std::vector<usage> rows;
  if (!read(into, subject::processes, from.processes, from.identity.from, m, l, rows)) return;
  for (usage& row : rows) {
    row.device_index = into.identity.index;
    into.can_be_summed = into.can_be_summed && is_whole(row);
  }
  into.processes = std::move(rows);
  into.found |= subject::processes;
}

void add_telemetry(merged_device& into, const device_cache& from, const moment& m,
                   const limits& l) {
  hmn::telemetry fresh;
  if (!read(into, subject::telemetry, from.telemetry, from.identity.from, m, l, fresh)) return;
  fresh.device_index = into.identity.index;
  if (into.telemetry) {
    merge(*into.telemetry, fresh);
  } else {
    into.telemetry = fresh;
  }
  into.found |= subject::telemetry;
}

// Adds metrics; the first source that has a number provides it.
void add_metrics(merged_device& into, const device_cache& from, const moment& m, const limits& l) {
  std::vector<metric> all;
  if (!read(into, subject::metrics, from.metrics, from.identity.from, m, l, all)) return;
  into.found |= subject::metrics;
  const std::span<const metric> known(into.metrics.data(), into.metrics.size());
  std::erase_if(all, [&](const metric& fresh) {
    return std::ranges::any_of(known, [&](const metric& k) { return is_same_number(k, fresh); });
  });
  for (metric& fresh : all) fresh.device_index = into.identity.index;
  into.metrics.insert(into.metrics.end(), all.begin(), all.end());
}

bool has_pool(const hmn::pools& all, const selection& wanted) noexcept {
  const pool* const p = all.find(wanted.pool.kind, wanted.pool.instance);
  return p != nullptr && missing_bits(*p, wanted.pool_fields) == 0;
}

bool has_metric(const std::vector<metric>& all, const metric* wanted) noexcept {
  return wanted != nullptr &&
         std::ranges::any_of(all, [wanted](const metric& m) { return is_same_number(m, *wanted); });
}

}  // namespace

void merge(device& best, const device& other) {
  constexpr std::uint32_t never = device_field::instance | device_field::parent_index;
  bool taken = take_known(best.form, other.form);
  taken |= take_known(best.vendor, other.vendor);
  taken |= take_known(best.memory_kind, other.memory_kind);
  taken |= take_missing(~never, best, other) != 0;
  if (!taken) return;
  best.notes |= note::mixed | other.notes;
  best.age_ns = std::max(best.age_ns, other.age_ns);
}

void merge(telemetry& best, const telemetry& other) {
  const FieldSet taken = take_missing(~telemetry_field::window_ns, best, other);
  if (taken == 0) return;
  if ((taken & percentages) != 0) take_missing(telemetry_field::window_ns, best, other);
  best.sources |= other.sources | bit_of(other.from);
  best.notes |= note::mixed | other.notes;
  best.age_ns = std::max(best.age_ns, other.age_ns);
}

// Merges pools. Used and free bytes come from one source, or from sources that count alike.
void merge(pool& best, const pool& other) {
  FieldSet taken = take_missing(pool_field::total | pool_field::budget, best, other);
  if ((taken & pool_field::budget) != 0) best.budget_left = other.budget_left;
  const bool is_alike = best.accounting == other.accounting && best.accounting != accounting::none;
  if (!best.used && other.used && (!best.free || is_alike)) {
    pool both = best;
    bool fits = true;  // other's total may be larger, and its values are of another time
    taken |= take_missing(pool_field::used | pool_field::free | pool_field::reserved, both, other);
    both.accounting = other.accounting;
    drop_implausible(both, [&](auto&&...) { fits = false; });
    if (fits) best = both;
  }
  if (taken == 0) return;
  best.notes |= note::mixed | other.notes;
  best.age_ns = std::max(best.age_ns, other.age_ns);
}

void merge(merged_device& into, const device_cache& from, const plan& p, const moment& m,
           const limits& l) {
  if (p.pools) add_pools(into, from, m, l);
  if (p.telemetry != 0) add_telemetry(into, from, m, l);
  if (p.metrics) add_metrics(into, from, m, l);
  if (p.self) add_self(into, from, m, l);
  if (p.pid != 0) add_process(into, from, m, l);
  if (p.processes) add_processes(into, from, m, l);
}

bool is_complete(const merged_device& d, const plan& p, const selection& wanted) noexcept {
  const FieldSet no_telemetry = d.telemetry ? missing_bits(*d.telemetry, p.telemetry) : p.telemetry;
  return (!p.pools || has_pool(d.pools, wanted)) && (!p.self || (d.found & subject::self) != 0) &&
         (p.pid == 0 || d.process) && no_telemetry == 0 && !p.processes &&
         (!p.metrics || has_metric(d.metrics, wanted.number));
}

void end_reading(merged_device& d, std::uint64_t now_ns) {
  end_reading(d.pools, now_ns);
  end_reading(d.telemetry, now_ns);
  end_reading(d.self, now_ns);
  end_reading(d.process, now_ns);
  end_reading(d.metrics, now_ns);
}

void drop_found(merged_device& d) noexcept {
  for (std::size_t n = 0; n < d.missing.size(); ++n) {
    if ((d.found >> n & 1U) != 0) d.missing[n].reset();
  }
}

}  // namespace hmn
