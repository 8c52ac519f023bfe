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
bool read(MergedDevice& into, std::uint32_t subject_bit, const Cached<T>& from, Source id,
          const Moment& m, const Limits& l, T& out) {
  Result<void> ok = read_part(from, m, l, id, out);
  if (ok) {
    into.answered |= subject_bit;
    return true;
  }
  std::optional<Failure>& missing = into.missing_of(subject_bit);
  if (!missing && (into.answered & subject_bit) == 0) missing = ok.why();
  return false;
}

// Adds pools and fields that the preferred sources lack.
void add_pool(MergedDevice& into, Pool fresh) {
  fresh.device_index = into.identity.index;
  for (Pool& known : into.pools.all()) {
    if (known.from == fresh.from) continue;
    if (known.kind == fresh.kind && known.instance == fresh.instance) return merge(known, fresh);
    if (known.kind == PoolKind::unified) return;
    fresh.is_main = fresh.is_main && !known.is_main;
  }
  into.pools.add(fresh);
}

void add_pools(MergedDevice& into, const DeviceCache& from, const Moment& m, const Limits& l) {
  hmn::Pools all;
  if (!read(into, subject::pools, from.pools, from.identity.from, m, l, all)) return;
  for (const Pool& fresh : all.all()) {
    add_pool(into, fresh);
    into.found |= subject::pools;
  }
}

void add_self(MergedDevice& into, const DeviceCache& from, const Moment& m, const Limits& l) {
  if ((into.found & subject::self) != 0) return;
  Usage own;
  if (!read(into, subject::self, from.self, from.identity.from, m, l, own)) return;
  const bool is_known = own.used.has_value();
  if (!into.self || is_known) into.self = std::move(own);
  into.self->device_index = into.identity.index;
  if (is_known) into.found |= subject::self;
}

void add_process(MergedDevice& into, const DeviceCache& from, const Moment& m, const Limits& l) {
  if (into.process) return;
  Usage row;
  if (!read(into, subject::processes, from.process, from.identity.from, m, l, row)) return;
  into.process = std::move(row);
  into.process->device_index = into.identity.index;
  into.found |= subject::processes;
}

void add_processes(MergedDevice& into, const DeviceCache& from, const Moment& m, const Limits& l) {
  if ((into.found & subject::processes) != 0) return;
  std::vector<Usage> rows;
  if (!read(into, subject::processes, from.processes, from.identity.from, m, l, rows)) return;
  for (Usage& row : rows) {
    row.device_index = into.identity.index;
    into.can_be_summed = into.can_be_summed && is_whole(row);
  }
  into.processes = std::move(rows);
  into.found |= subject::processes;
}

void add_telemetry(MergedDevice& into, const DeviceCache& from, const Moment& m, const Limits& l) {
  hmn::Telemetry fresh;
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
void add_metrics(MergedDevice& into, const DeviceCache& from, const Moment& m, const Limits& l) {
  std::vector<Metric> all;
  if (!read(into, subject::metrics, from.metrics, from.identity.from, m, l, all)) return;
  into.found |= subject::metrics;
  const std::span<const Metric> known(into.metrics.data(), into.metrics.size());
  std::erase_if(all, [&](const Metric& fresh) {
    return std::ranges::any_of(known, [&](const Metric& k) { return is_same_number(k, fresh); });
  });
  for (Metric& fresh : all) fresh.device_index = into.identity.index;
  into.metrics.insert(into.metrics.end(), all.begin(), all.end());
}

bool has_pool(const hmn::Pools& all, const Selection& wanted) noexcept {
  const Pool* const p = all.find(wanted.pool.kind, wanted.pool.instance);
  return p != nullptr && missing_bits(*p, wanted.pool_fields) == 0;
}

bool has_metric(const std::vector<Metric>& all, const Metric* wanted) noexcept {
  return wanted != nullptr &&
         std::ranges::any_of(all, [wanted](const Metric& m) { return is_same_number(m, *wanted); });
}

}  // namespace

void merge(Device& best, const Device& other) {
  constexpr std::uint32_t never = device_field::instance | device_field::parent_index;
  bool taken = take_known(best.form, other.form);
  taken |= take_known(best.vendor, other.vendor);
  taken |= take_known(best.memory_kind, other.memory_kind);
  taken |= take_missing(~never, best, other) != 0;
  if (!taken) return;
  best.notes |= note::mixed | other.notes;
  best.age_ns = std::max(best.age_ns, other.age_ns);
}

void merge(Telemetry& best, const Telemetry& other) {
  const FieldSet taken = take_missing(~telemetry_field::window_ns, best, other);
  if (taken == 0) return;
  if ((taken & percentages) != 0) take_missing(telemetry_field::window_ns, best, other);
  best.sources |= other.sources | bit_of(other.from);
  best.notes |= note::mixed | other.notes;
  best.age_ns = std::max(best.age_ns, other.age_ns);
}

// Merges pools. Used and free bytes come from one source, or from sources that count alike.
void merge(Pool& best, const Pool& other) {
  FieldSet taken = take_missing(pool_field::total | pool_field::budget, best, other);
  if ((taken & pool_field::budget) != 0) best.budget_left = other.budget_left;
  const bool is_alike = best.accounting == other.accounting && best.accounting != Accounting::none;
  if (!best.used && other.used && (!best.free || is_alike)) {
    Pool both = best;
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

void merge(MergedDevice& into, const DeviceCache& from, const Plan& p, const Moment& m,
           const Limits& l) {
  if (p.pools) add_pools(into, from, m, l);
  if (p.telemetry != 0) add_telemetry(into, from, m, l);
  if (p.metrics) add_metrics(into, from, m, l);
  if (p.self) add_self(into, from, m, l);
  if (p.pid != 0) add_process(into, from, m, l);
  if (p.processes) add_processes(into, from, m, l);
}

bool is_complete(const MergedDevice& d, const Plan& p, const Selection& wanted) noexcept {
  const FieldSet no_telemetry = d.telemetry ? missing_bits(*d.telemetry, p.telemetry) : p.telemetry;
  return (!p.pools || has_pool(d.pools, wanted)) && (!p.self || (d.found & subject::self) != 0) &&
         (p.pid == 0 || d.process) && no_telemetry == 0 && !p.processes &&
         (!p.metrics || has_metric(d.metrics, wanted.number));
}

void end_reading(MergedDevice& d, std::uint64_t now_ns) {
  end_reading(d.pools, now_ns);
  end_reading(d.telemetry, now_ns);
  end_reading(d.self, now_ns);
  end_reading(d.process, now_ns);
  end_reading(d.metrics, now_ns);
}

void drop_found(MergedDevice& d) noexcept {
  for (std::size_t n = 0; n < d.missing.size(); ++n) {
    if ((d.found >> n & 1U) != 0) d.missing[n].reset();
  }
}

}  // namespace hmn
