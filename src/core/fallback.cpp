// SPDX-License-Identifier: MIT OR Apache-2.0
#include "core/fallback.hpp"

#include <algorithm>

#include "core/context.hpp"
#include "model/record.hpp"

namespace hmn {
namespace {

// Maximum age of a fallback's answer, which costs the start of a program, and the longest wait for
// one: other values need not wait for a command that hangs.
constexpr std::uint64_t max_age_ns = platform::ns_per_second;
constexpr std::uint64_t longest_wait_ns = 5 * platform::ns_per_second;

constexpr std::uint32_t texts = device_field::name | device_field::uuid |
                                device_field::driver_version | device_field::pci_bus_id;
constexpr std::uint32_t sizes = pool_field::total | pool_field::used | pool_field::free;

// Returns whether no source could serve the subject, for a reason that need not hold for another
// one. For a process that is not listed, a device that sleeps or hangs, or a value that the device
// does not have, the reason is the answer.
bool has_failed(const merged_device& d, std::uint32_t subject_bit) noexcept {
  const std::optional<failure>& why = d.missing_of(subject_bit);
  if (!why || why->lasts || (d.found & subject_bit) != 0) return false;
  return why->code == status::backend || why->code == status::unsupported ||
         why->code == status::permission;
}

// Fallbacks list processes that compute; accounts of ended processes have no current use.
bool lacks_use(const usage& row) noexcept {
  const bool computes = (row.kinds.value_or(usage_kind::compute) & usage_kind::compute) != 0;
  return !row.used && computes && !row.counted_since_ns && !is_stale(row.notes);
}

// Returns whether one of the lists that the row is from could not be read.
bool is_of_partial_list(const usage& row) noexcept {
  return (row.notes & note::lower_bound) != 0 && !is_stale(row.notes);
}

bool lacks_use(const merged_device& d, const std::optional<usage>& row,
               std::uint32_t subject_bit) noexcept {
  return row ? lacks_use(*row) : has_failed(d, subject_bit);
}

std::uint32_t missing_sizes(const merged_device& d) noexcept {
  const pool* const main = d.pools.find(pool_kind::main);
  if (main == nullptr) return has_failed(d, subject::pools) ? sizes : 0;
  if (main->kind == pool_kind::unified || is_stale(main->notes)) return 0;
  return missing_bits(*main, main->used ? sizes : sizes | pool_field::reserved);
}

std::uint32_t missing_telemetry(const merged_device& d, std::uint32_t wanted) noexcept {
  wanted &= ~d.telemetry_lacks;
  if (!d.telemetry) return has_failed(d, subject::telemetry) ? wanted : 0;
  return is_stale(d.telemetry->notes) ? 0 : missing_bits(*d.telemetry, wanted);
}

void add_use(usage& into, const usage& fresh) {
  const bool is_alike =
      into.accounting == accounting::allocated && fresh.accounting == into.accounting;
  if (!lacks_use(into) || !fresh.used || !is_alike) return;
  into.used = into.allocated = fresh.used;
  into.notes |= note::mixed | fresh.notes;
  into.age_ns = std::max(into.age_ns, fresh.age_ns);
}

// Adds processes that are not listed yet. A fallback does not list those that draw, so that the
// list stays partial.
void add_rows(std::vector<usage>& to, std::vector<usage>& rows) {
  const std::size_t listed = to.size();
  for (usage& fresh : rows) {
    const auto end = to.begin() + static_cast<std::ptrdiff_t>(listed);
    if (std::any_of(to.begin(), end, [&](const usage& r) { return r.pid == fresh.pid; })) continue;
    note_incomplete(fresh);
    to.push_back(std::move(fresh));
  }
}

void add_row(merged_device& into, std::optional<usage>& row, std::uint32_t subject_bit,
             const usage& fresh) {
  if (!fresh.used || (fresh.notes & note::foreign_pid) != 0) return;
  if (row) {
    add_use(*row, fresh);
  } else {
    row = fresh;
  }
  if (row->used) into.found |= subject_bit;
}

// Returns the part of the gap that will stay: what the answer shows to be unsupported, or all of it
// without an answer for the device.
gap lacks_of(const source_cache& all, const device_cache* from, gap left, const moment& m) {
  if (from == nullptr) return left;
  const auto keep = [&](std::uint32_t about, std::uint64_t tried_ns,
                        const std::optional<failure>& why) {
    if (tried_ns < m.since || (why && why->code != status::unsupported)) left.of(about) = 0;
  };
  keep(subject::pools, from->pools.tried_ns, from->pools.why);
  keep(subject::telemetry, from->telemetry.tried_ns, from->telemetry.why);
  keep(subject::self, from->processes.tried_ns, from->processes.why);
  keep(subject::processes, from->processes.tried_ns, from->processes.why);
  // A process that is not listed now may be later.
  bool shows_none = from->processes.why.has_value();
  for (const usage& row : from->processes.value) shows_none = shows_none || !row.used;
  if (!shows_none) left.of(subject::self) = left.of(subject::processes) = 0;
  for (const diagnostic& d : all.diagnostics) {
    if (d.device != from->identity.number || d.why.code == status::unsupported) continue;
    left.of(d.about) &= d.field != 0 ? ~d.field : 0;
    if (d.about == subject::processes) left.of(subject::self) = 0;
  }
  return left;
}

gap without(gap g, const gap& other) noexcept {
  for (std::size_t n = 0; n < g.fields.size(); ++n) g.fields[n] &= ~other.fields[n];
  return g;
}

void add(gap& to, const gap& other) noexcept {
  for (std::size_t n = 0; n < to.fields.size(); ++n) to.fields[n] |= other.fields[n];
}

// Returns what the device lacks of the plan although its source was asked; of telemetry, only
// `fields`. A source that rests, is late or has lost the device leaves no gap.
gap gap_of(const merged_device& d, const plan& p, std::uint32_t fields) noexcept {
  gap g;
  if (p.list) g.of(subject::devices) = missing_bits(d.identity, texts);
  if (p.pools) g.of(subject::pools) = missing_sizes(d);
  g.of(subject::telemetry) = missing_telemetry(d, p.telemetry & fields);
  // Processes of a divided device are listed under its partitions.
  if (is_divided(d.identity)) return g;
  constexpr std::uint32_t use = usage_field::used | usage_field::allocated;
  if (p.self && lacks_use(d, d.self, subject::self)) g.of(subject::self) = use;
  const bool lacks_rows = (p.pid != 0 && lacks_use(d, d.process, subject::processes)) ||
                          (p.processes && (has_failed(d, subject::processes) ||
                                           std::ranges::any_of(d.processes, [](const usage& r) {
                                             return lacks_use(r) || is_of_partial_list(r);
                                           })));
  if (lacks_rows) g.of(subject::processes) = use;
  return g;
}

}  // namespace

void fill_use(merged_device& into, const plan& p, std::vector<usage>& rows) {
  for (usage& fresh : rows) {
    fresh.device_index = into.identity.index;
    if (p.self && fresh.pid == p.own_pid) add_row(into, into.self, subject::self, fresh);
    if (p.pid == fresh.pid) add_row(into, into.process, subject::processes, fresh);
    for (usage& row : into.processes) {
      if (row.pid == fresh.pid) add_use(row, fresh);
    }
  }
  if (!p.processes) return;
  const bool has_no_list = has_failed(into, subject::processes);
  const bool is_partial = has_no_list || std::ranges::any_of(into.processes, is_of_partial_list);
  if (is_partial) add_rows(into.processes, rows);
  into.can_be_summed = !is_partial && std::ranges::all_of(into.processes, is_whole);
}

// Returns what to ask the fallback for a device.
gap context::gap_for(const merged_device& of, const plan& p) {
  const device& who = of.identity;
  const bool is_served = (filler_->fallback_for() & bit_of(who.from)) != 0;
  if (!is_served || who.state != state::ready || who.kind == device_kind::partition) return {};
  const gap g = gap_of(of, p, filler_->fills());
  if (!g.is_any()) return g;
  const std::lock_guard lock(table_mutex_);
  return without(g, table_.lacks_of(who.index));
}

void context::fill_gap(merged_device& to, const plan& p, const source_cache& known,
                       const moment& m) {
  const gap before = gap_for(to, p);
  if (!before.is_any()) return;
  std::optional<slot> number;
  {
    const std::lock_guard lock(table_mutex_);
    number = table_.slot_of(to.identity.index, filler_->id());
    if (p.list) to.identity = table_.at(to.identity.index);
  }
  const device_cache* from = nullptr;
  for (const device_cache& a : known.devices) {
    if (a.listed && a.identity.number == number) from = &a;
  }
  plan q = p;
  q.fills = true;
  to.filled = before;
  q.pools = to.filled.of(subject::pools) != 0;
  q.telemetry = to.filled.of(subject::telemetry);
  q.metrics = p.metrics && q.telemetry != 0;
  if (from != nullptr) merge(to, *from, q, m, limits_);
  const gap left = gap_for(to, p);
  to.filled = without(to.filled, left);
  if (m.late) return;
  const gap never = lacks_of(known, from, left, m);
  const std::lock_guard lock(table_mutex_);
  add(table_.lacks_of(to.identity.index), never);
}

void context::fill_gaps(std::span<merged_device> all, const plan& p, deadline& d,
                        seen_answer seen) {
  if (filler_ == nullptr) return;
  gap any;
  bool is_new = false;
  for (const merged_device& of : all) {
    const gap g = gap_for(of, p);
    if (!g.is_any()) continue;
    add(any, g);
    const std::lock_guard lock(table_mutex_);
    is_new = is_new || !table_.slot_of(of.identity.index, filler_->id());
  }
  if (!any.is_any() || (resting_ & filler_->fallback_for()) != 0) return;
  // Asks for all devices and all values of a query, which cost no more.
  const bool is_of_use = (any.of(subject::self) | any.of(subject::processes)) != 0;
  any.of(subject::self) = any.of(subject::processes) = 0;
  plan q = new_plan();
  q.wants_trace = p.wants_trace;
  q.max_age_ns = max_age_ns;
  q.list = is_new || any.is_any();
  q.processes = is_of_use;
  if (q.list) {
    q.pools = q.metrics = true;
    q.telemetry = filler_->fills();
  }
  const auto visit = [&](const source_cache& known, const moment& m) {
    if (!m.late) seen(known);
    if (known.refused && !is_late(*known.refused)) return;
    if (q.list && known.listed_ns >= m.since) update_devices(*filler_, known, true);
    for (merged_device& to : all) fill_gap(to, p, known, m);
  };
  d.leave_for_next(deadline::share::none);
  const std::uint64_t now = platform::monotonic_ns();
  if (now >= d.until()) return filler_->show(visit, {now, true});
  d.end_by(platform::later(now, longest_wait_ns));
  static_cast<void>(filler_->run(q, d, visit));
}

}  // namespace hmn
