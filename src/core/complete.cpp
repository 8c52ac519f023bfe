// SPDX-License-Identifier: MIT OR Apache-2.0
//
// Asks nvidia-smi for the subjects of a GPU that NVML failed to read.
#include <algorithm>

#include "core/context.hpp"
#include "model/record.hpp"

namespace hmn {
namespace {

// Maximum age of the tool's answer, which costs the start of a program, and the longest wait for
// one: other values need not wait for a command that hangs.
constexpr std::uint64_t max_age_ns = platform::ns_per_second;
constexpr std::uint64_t longest_wait_ns = 5 * platform::ns_per_second;

// Returns whether no source could serve the subject, for a reason that need not hold for another
// one. For a process that is not listed, a device that sleeps or hangs, or a value that the device
// does not have, the reason is the answer.
bool has_failed(const MergedDevice& d, std::uint32_t subject_bit) noexcept {
  const std::optional<Failure>& why = d.missing_of(subject_bit);
  if (!why || why->lasts || (d.found & subject_bit) != 0) return false;
  return why->code == Status::backend || why->code == Status::unsupported ||
         why->code == Status::permission;
}

// The tool lists processes that compute; accounts of ended processes have no current use.
bool lacks_use(const Usage& row) noexcept {
  const bool computes = (row.kinds.value_or(usage_kind::compute) & usage_kind::compute) != 0;
  return !row.used && computes && !row.counted_since_ns && !is_stale(row.notes);
}

bool lacks_use(const MergedDevice& d, const std::optional<Usage>& row,
               std::uint32_t subject_bit) noexcept {
  return row ? lacks_use(*row) : has_failed(d, subject_bit);
}

// Returns whether one of the lists that the row is from could not be read.
bool is_of_partial_list(const Usage& row) noexcept {
  return (row.notes & note::lower_bound) != 0 && !is_stale(row.notes);
}

// Returns the subjects of the plan that the device lacks although its source was asked. A source
// that rests, is late or has lost the device leaves none.
std::uint32_t unserved(const MergedDevice& d, const Plan& p) noexcept {
  std::uint32_t out = 0;
  if (p.pools && has_failed(d, subject::pools)) out |= subject::pools;
  if (p.telemetry != 0 && has_failed(d, subject::telemetry)) out |= subject::telemetry;
  // Processes of a divided device are listed under its partitions.
  if (is_divided(d.identity)) return out;
  if (p.self && lacks_use(d, d.self, subject::self)) out |= subject::self;
  const bool lacks_rows = (p.pid != 0 && lacks_use(d, d.process, subject::processes)) ||
                          (p.processes && (has_failed(d, subject::processes) ||
                                           std::ranges::any_of(d.processes, [](const Usage& r) {
                                             return lacks_use(r) || is_of_partial_list(r);
                                           })));
  if (lacks_rows) out |= subject::processes;
  return out;
}

// A pool without a total shows nothing where NVML failed.
void add_pools(MergedDevice& to, const hmn::Pools& from) {
  for (Pool fresh : from.all()) {
    if (!fresh.total) continue;
    fresh.device_index = to.identity.index;
    to.pools.add(fresh);
    to.found |= subject::pools;
  }
}

void add_telemetry(MergedDevice& to, hmn::Telemetry fresh, const Plan& p) {
  if (present_bits(fresh, p.telemetry) == 0) return;
  fresh.device_index = to.identity.index;
  to.telemetry = fresh;
  to.found |= subject::telemetry;
}

void add_use(Usage& into, const Usage& fresh) {
  const bool is_alike =
      into.accounting == Accounting::allocated && fresh.accounting == into.accounting;
  if (!lacks_use(into) || !fresh.used || !is_alike) return;
  into.used = into.allocated = fresh.used;
  into.notes |= note::mixed | fresh.notes;
  into.age_ns = std::max(into.age_ns, fresh.age_ns);
}

void add_row(MergedDevice& to, std::optional<Usage>& row, std::uint32_t subject_bit,
             const Usage& fresh) {
  if (!fresh.used || (fresh.notes & note::foreign_pid) != 0) return;
  if (row) {
    add_use(*row, fresh);
  } else {
    row = fresh;
  }
  if (row->used) to.found |= subject_bit;
}

// Adds processes that are not listed yet. The tool does not list those that draw, so that the list
// stays partial.
void add_rows(std::vector<Usage>& to, std::vector<Usage>& rows) {
  const std::size_t listed = to.size();
  for (Usage& fresh : rows) {
    const auto end = to.begin() + static_cast<std::ptrdiff_t>(listed);
    if (std::any_of(to.begin(), end, [&](const Usage& r) { return r.pid == fresh.pid; })) continue;
    note_incomplete(fresh);
    to.push_back(std::move(fresh));
  }
}

// Adds what processes use.
void add_processes(MergedDevice& to, const Plan& p, std::vector<Usage>& rows) {
  for (Usage& fresh : rows) {
    fresh.device_index = to.identity.index;
    if (p.self && fresh.pid == p.own_pid) add_row(to, to.self, subject::self, fresh);
    if (p.pid == fresh.pid) add_row(to, to.process, subject::processes, fresh);
    for (Usage& row : to.processes) {
      if (row.pid == fresh.pid) add_use(row, fresh);
    }
  }
  if (!p.processes) return;
  const bool is_partial =
      has_failed(to, subject::processes) || std::ranges::any_of(to.processes, is_of_partial_list);
  if (is_partial) add_rows(to.processes, rows);
  to.can_be_summed = !is_partial && std::ranges::all_of(to.processes, is_whole);
}

// Adds the tool's answer for the `wanted` subjects of a device.
void add(MergedDevice& to, const DeviceCache& from, const Plan& p, std::uint32_t wanted,
         const Moment& m, const Limits& l) {
  const auto has = [&](std::uint32_t subjects, const auto& part, auto& out) {
    return (wanted & subjects) != 0 && read_part(part, m, l, from.identity.from, out);
  };
  hmn::Pools pools;
  if (has(subject::pools, from.pools, pools)) add_pools(to, pools);
  hmn::Telemetry load;
  if (has(subject::telemetry, from.telemetry, load)) add_telemetry(to, load, p);
  std::vector<Usage> rows;
  if (has(subject::self | subject::processes, from.processes, rows)) add_processes(to, p, rows);
  to.answered |= to.found;
}

// Returns whether the part was read, or is not there to be read.
template <class T>
bool is_final(const Cached<T>& part, const Moment& m) {
  return part.tried_ns >= m.since && (!part.why || part.why->code == Status::unsupported);
}

// Returns the subjects that need not be asked for again if they are still unserved: all of a GPU
// that the tool does not list, else those that it has answered.
std::uint32_t answered_for_good(const SourceCache& known, const DeviceCache* from,
                                const Moment& m) {
  if (from == nullptr) return subject::all;
  std::uint32_t out = 0;
  if (is_final(from->pools, m)) out |= subject::pools;
  if (is_final(from->telemetry, m)) out |= subject::telemetry;
  // A process that is not listed now may be later.
  const Cached<std::vector<Usage>>& list = from->processes;
  const bool shows_none =
      list.why || std::ranges::any_of(list.value, [](const Usage& row) { return !row.used; });
  if (is_final(list, m) && shows_none) out |= subject::self | subject::processes;
  for (const Diagnostic& d : known.diagnostics) {
    if (d.device != from->identity.number || d.why.code == Status::unsupported) continue;
    out &= ~d.about;
    if (d.about == subject::processes) out &= ~subject::self;
  }
  return out;
}

}  // namespace

// Returns the subjects of the plan that nvidia-smi is to be asked for.
std::uint32_t Context::remaining(const MergedDevice& of, const Plan& p) {
  const Device& who = of.identity;
  const bool is_served = (nvidia_smi_->fallback_for() & bit_of(who.from)) != 0;
  if (!is_served || who.state != State::ready || is_partition(who)) return 0;
  const std::uint32_t all = unserved(of, p);
  if (all == 0) return 0;
  const std::lock_guard lock(table_mutex_);
  return all & ~table_.unobtainable(who.index);
}

void Context::complete(MergedDevice& to, const Plan& p, const SourceCache& known, const Moment& m) {
  const std::uint32_t wanted = remaining(to, p);
  if (wanted == 0) return;
  const auto found = std::ranges::find_if(known.devices, [&](const DeviceCache& a) {
    return a.listed && is_same(a.identity, to.identity);
  });
  const DeviceCache* const from = found != known.devices.end() ? &*found : nullptr;
  if (from != nullptr) add(to, *from, p, wanted, m, limits_);
  const std::uint32_t left = remaining(to, p);
  to.completed |= wanted & ~left;
  if (m.late) return;
  const std::uint32_t never = left & answered_for_good(known, from, m);
  const std::lock_guard lock(table_mutex_);
  table_.unobtainable(to.identity.index) |= never;
}

Result<void> Context::complete(std::span<MergedDevice> all, const Plan& p, Deadline& d,
                               SeenAnswer seen) {
  if (nvidia_smi_ == nullptr) return {};
  std::uint32_t wanted = 0;
  for (const MergedDevice& of : all) wanted |= remaining(of, p);
  if (wanted == 0 || (resting_ & nvidia_smi_->fallback_for()) != 0) return {};
  // Asks for all devices and all values of a query, which cost no more.
  Plan q = new_plan();
  q.wants_trace = p.wants_trace;
  q.max_age_ns = max_age_ns;
  q.list = q.pools = true;
  q.telemetry = telemetry_field::all;
  q.processes = (wanted & (subject::self | subject::processes)) != 0;
  const auto visit = [&](const SourceCache& known, const Moment& m) {
    if (!m.late) seen(known);
    if (known.refused && !is_late(*known.refused)) return;
    for (MergedDevice& to : all) complete(to, p, known, m);
  };
  d.leave_for_next(Deadline::Share::none);
  const std::uint64_t now = platform::monotonic_ns();
  if (now >= d.until()) {
    nvidia_smi_->show(visit, {platform::continuous_ns(), true});
    return {};
  }
  d.end_by(platform::later(now, longest_wait_ns));
  Result<void> answered = nvidia_smi_->run(q, d, visit);
  return !answered && hmn::is_cancelled(answered.why()) ? answered : Result<void>();
}

}  // namespace hmn
