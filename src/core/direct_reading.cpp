// SPDX-License-Identifier: MIT OR Apache-2.0
//
// Reads one subject of one device on the path of a snapshot, without its allocations.
#include <algorithm>

#include "core/context.hpp"
#include "core/reason.hpp"
#include "core/usable.hpp"
#include "model/message_text.hpp"
#include "model/record.hpp"
#include "platform/process.hpp"

namespace hmn {
namespace {

// Returns the most specific of several failures: a fault rather than an absence.
template <class Refusals>
Failure most_specific(const Refusals& all) {
  for (const auto& r : all) {
    if (r.why.code != Status::no_source) return r.why;
  }
  return all.front().why;
}

// Returns whether the account of an unlisted process is really its own. Accounts are kept by pid,
// and pids are reused.
bool is_account_of_process(Usage& row) {
  if (!row.counted_since_ns) return true;
  if (!row.start_unix_ns) row.start_unix_ns = row.counted_since_ns;
  return platform::has_started_by(*row.start_unix_ns, *row.counted_since_ns);
}

}  // namespace

Result<void> Context::read(std::uint32_t index, std::uint32_t subject_bit, const Plan& p,
                           const Selection& wanted, MergedDevice& out,
                           std::vector<Diagnostic>* diagnostics) {
  Deadline d = new_deadline();
  if (Result<void> ok = ensure_listed(index, d); !ok) return ok;
  bool is_identified = false;
  const auto visit = [&](Worker& from, const SourceCache& known, const Moment& m) {
    std::optional<Slot> number;
    {
      const std::lock_guard lock(table_mutex_);
      number = table_.slot_of(index, from.id());
      if (!number) return true;
      if (!is_identified) out.identity = table_.at(index);
    }
    is_identified = true;
    for (const DeviceCache& a : known.devices) {
      if (a.identity.number == *number && (a.listed || m.late)) merge(out, a, p, m, limits_);
    }
    if (diagnostics != nullptr) {
      std::ranges::copy_if(known.diagnostics, std::back_inserter(*diagnostics),
                           [&](const Diagnostic& r) { return r.device == number; });
    }
    return !is_complete(out, p, wanted);
  };
  const Result<Refusals> refused = ask(p, index, d, visit);
  if (!refused) return refused.why();
  if (Result<void> ok = complete({&out, 1}, p, d, [](auto&&) {}); !ok) return ok;
  if ((out.answered & subject_bit) != 0) {
    end_reading(out, platform::continuous_ns());
    return {};
  }
  if (!refused->empty()) return most_specific(*refused);
  std::optional<Failure>& missing = out.missing_of(subject_bit);
  if (!missing) {
    return failed(Status::device_lost, {"device ", index, " was here and is gone"});
  }
  if (missing->code == Status::device_lost) {
    const std::lock_guard lock(table_mutex_);
    table_.set_state(index, State::lost);
  }
  return std::move(*missing);
}

Result<Pool> Context::pool(std::uint32_t index, PoolKey key, FieldSet fields,
                           std::vector<Diagnostic>* diagnostics) {
  Plan p = new_plan();
  p.pools = true;
  MergedDevice d;
  const Selection wanted{key, fields, nullptr};
  if (Result<void> ok = read(index, subject::pools, p, wanted, d, diagnostics); !ok) {
    return ok.why();
  }
  const hmn::Pool* const found = d.pools.find(key.kind, key.instance);
  if (found == nullptr) {
    return failed(Status::unsupported, {"device ", index, " has no such memory pool"});
  }
  constexpr std::uint32_t needs_host = pool_field::total | pool_field::usable | pool_field::budget;
  if ((fields & needs_host) != 0) set_usable(d, found->kind);
  if (present_bits(*found, pool_field::readable) == 0) {
    return Failure{Status::unsupported,
                   found->from,
                   {},
                   {"device ", index, ": no value of this memory pool is reported"}};
  }
  return *found;
}

Result<std::uint64_t> Context::usable(std::uint32_t index) {
  std::vector<Diagnostic> diagnostics;
  const Result<hmn::Pool> main = pool(index, {}, pool_field::usable, &diagnostics);
  if (!main) return main.why();
  if (main->usable) return *main->usable;
  if (const Diagnostic* const d = find_reason(diagnostics, subject::pools, pool_field::usable)) {
    return d->why;
  }
  const std::lock_guard lock(table_mutex_);
  return why_not_usable(*main, table_.at(index));
}

Result<Telemetry> Context::telemetry(std::uint32_t index, FieldSet fields) {
  Plan p = new_plan();
  p.telemetry = fields != 0 ? fields : telemetry_field::all;
  p.quick = fields == 0;
  MergedDevice d;
  if (Result<void> ok = read(index, subject::telemetry, p, {}, d); !ok) return ok.why();
  return *d.telemetry;
}

// Reads slow metrics only when no fast one has the number.
Result<Metric> Context::metric(std::uint32_t index, MetricId id, std::uint32_t instance) {
  hmn::Metric wanted;
  wanted.id = id;
  wanted.instance = instance;
  Plan p = new_plan();
  p.metrics = true;
  for (;;) {
    MergedDevice d;
    std::vector<Diagnostic> diagnostics;
    const Result<void> ok = read(index, subject::metrics, p, {{}, 0, &wanted}, d, &diagnostics);
    const auto found = std::ranges::find_if(
        d.metrics, [&](const hmn::Metric& m) { return is_same_number(m, wanted); });
    if (found != d.metrics.end()) return *found;
    const Diagnostic* const reason =
        find_reason(diagnostics, subject::metrics, missing_metric(id, instance));
    Failure why = !ok                 ? ok.why()
                  : reason != nullptr ? reason->why
                                      : Failure{Status::unsupported,
                                                d.identity.from,
                                                {},
                                                "not supported by this device or driver"};
    if (p.slow || why.code != Status::unsupported) return why;
    p.slow = true;
  }
}

Result<Usage> Context::process(std::uint32_t index, std::uint32_t pid, FieldSet fields) {
  Plan p = new_plan();
  p.pid = pid;
  p.quick = (fields & usage_field::busy_percent) == 0;
  MergedDevice d;
  if (Result<void> ok = read(index, subject::processes, p, {}, d); !ok) return ok.why();
  Usage& row = *d.process;
  if (row.pid != pid) return answered_too_late(row.from);
  if ((row.notes & note::foreign_pid) == 0) host_->describe(row);
  if (!is_account_of_process(row)) {
    return Failure{Status::no_process,
                   row.from,
                   {},
                   "the driver lists no such process on this device, and its account under this "
                   "pid is of an earlier one"};
  }
  return std::move(row);
}

Result<Usage> Context::own_usage(std::uint32_t index) {
  Plan p = new_plan();
  p.self = true;
  MergedDevice d;
  if (Result<void> ok = read(index, subject::self, p, {}, d); !ok) return ok.why();
  return std::move(*d.self);
}

}  // namespace hmn
