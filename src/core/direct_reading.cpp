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
failure most_specific(const Refusals& all) {
  for (const auto& r : all) {
    if (r.why.code != status::no_source) return r.why;
  }
  return all.front().why;
}

// Returns whether the account of an unlisted process is really its own. Accounts are kept by pid,
// and pids are reused.
bool is_account_of_process(usage& row) {
  if (!row.counted_since_ns) return true;
  if (!row.start_unix_ns) row.start_unix_ns = row.counted_since_ns;
  return platform::has_started_by(*row.start_unix_ns, *row.counted_since_ns);
}

}  // namespace

result<void> context::read(std::uint32_t index, std::uint32_t subject_bit, const plan& p,
                           const selection& wanted, merged_device& out,
                           std::vector<diagnostic>* diagnostics) {
  deadline d = new_deadline();
  if (result<void> ok = ensure_listed(index, d); !ok) return ok;
  bool is_identified = false;
  const auto visit = [&](worker& from, const source_cache& known, const moment& m) {
    std::optional<slot> number;
    {
      const std::lock_guard lock(table_mutex_);
      number = table_.slot_of(index, from.id());
      if (!number) return true;
      if (!is_identified) out.identity = table_.at(index);
    }
    is_identified = true;
    for (const device_cache& a : known.devices) {
      if (a.identity.number == *number && (a.listed || m.late)) merge(out, a, p, m, limits_);
    }
    if (diagnostics != nullptr) {
      std::ranges::copy_if(known.diagnostics, std::back_inserter(*diagnostics),
                           [&](const diagnostic& r) { return r.device == number; });
    }
    return !is_complete(out, p, wanted);
  };
  const result<refusals> refused = ask(p, index, d, visit);
  if (!refused) return refused.why();
  if (result<void> ok = complete({&out, 1}, p, d, [](auto&&) {}); !ok) return ok;
  if ((out.answered & subject_bit) != 0) {
    end_reading(out, platform::continuous_ns());
    return {};
  }
  if (!refused->empty()) return most_specific(*refused);
  std::optional<failure>& missing = out.missing_of(subject_bit);
  if (!missing) {
    return failed(status::device_lost, {"device ", index, " was here and is gone"});
  }
  if (missing->code == status::device_lost) {
    const std::lock_guard lock(table_mutex_);
    table_.set_state(index, state::lost);
  }
  return std::move(*missing);
}

result<pool> context::pool(std::uint32_t index, PoolKey key, FieldSet fields,
                           std::vector<diagnostic>* diagnostics) {
  plan p = new_plan();
  p.pools = true;
  merged_device d;
  const selection wanted{key, fields, nullptr};
  if (result<void> ok = read(index, subject::pools, p, wanted, d, diagnostics); !ok) {
    return ok.why();
  }
  const hmn::pool* const found = d.pools.find(key.kind, key.instance);
  if (found == nullptr) {
    return failed(status::unsupported, {"device ", index, " has no such memory pool"});
  }
  constexpr std::uint32_t needs_host = pool_field::total | pool_field::usable | pool_field::budget;
  if ((fields & needs_host) != 0) set_usable(d, found->kind);
  if (present_bits(*found, pool_field::readable) == 0) {
    return failure{status::unsupported,
                   found->from,
                   {},
                   {"device ", index, ": no value of this memory pool is reported"}};
  }
  return *found;
}

result<std::uint64_t> context::usable(std::uint32_t index) {
  std::vector<diagnostic> diagnostics;
  const result<hmn::pool> main = pool(index, {}, pool_field::usable, &diagnostics);
  if (!main) return main.why();
  if (main->usable) return *main->usable;
  if (const diagnostic* const d = find_reason(diagnostics, subject::pools, pool_field::usable)) {
    return d->why;
  }
  const std::lock_guard lock(table_mutex_);
  return why_not_usable(*main, table_.at(index));
}

result<telemetry> context::telemetry(std::uint32_t index, FieldSet fields) {
  plan p = new_plan();
  p.telemetry = fields != 0 ? fields : telemetry_field::all;
  p.quick = fields == 0;
  merged_device d;
  if (result<void> ok = read(index, subject::telemetry, p, {}, d); !ok) return ok.why();
  return *d.telemetry;
}

// Reads slow metrics only when no fast one has the number.
result<metric> context::metric(std::uint32_t index, metric_id id, std::uint32_t instance) {
  hmn::metric wanted;
  wanted.id = id;
  wanted.instance = instance;
  plan p = new_plan();
  p.metrics = true;
  for (;;) {
    merged_device d;
    std::vector<diagnostic> diagnostics;
    const result<void> ok = read(index, subject::metrics, p, {{}, 0, &wanted}, d, &diagnostics);
    const auto found = std::ranges::find_if(
        d.metrics, [&](const hmn::metric& m) { return is_same_number(m, wanted); });
    if (found != d.metrics.end()) return *found;
    const diagnostic* const reason =
        find_reason(diagnostics, subject::metrics, missing_metric(id, instance));
    failure why = !ok                 ? ok.why()
                  : reason != nullptr ? reason->why
                                      : failure{status::unsupported,
                                                d.identity.from,
                                                {},
                                                "not supported by this device or driver"};
    if (p.slow || why.code != status::unsupported) return why;
    p.slow = true;
  }
}

result<usage> context::process(std::uint32_t index, std::uint32_t pid, FieldSet fields) {
  plan p = new_plan();
  p.pid = pid;
  p.quick = (fields & usage_field::busy_percent) == 0;
  merged_device d;
  if (result<void> ok = read(index, subject::processes, p, {}, d); !ok) return ok.why();
  usage& row = *d.process;
  if (row.pid != pid) return answered_too_late(row.from);
  if ((row.notes & note::foreign_pid) == 0) host_->describe(row);
  if (!is_account_of_process(row)) {
    return failure{status::no_process,
                   row.from,
                   {},
                   "the driver lists no such process on this device, and its account under this "
                   "pid is of an earlier one"};
  }
  return std::move(row);
}

result<usage> context::own_usage(std::uint32_t index) {
  plan p = new_plan();
  p.self = true;
  merged_device d;
  if (result<void> ok = read(index, subject::self, p, {}, d); !ok) return ok.why();
  return std::move(*d.self);
}

}  // namespace hmn
