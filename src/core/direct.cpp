// SPDX-License-Identifier: MIT OR Apache-2.0
//
// Readings of one part of one device.
#include "core/context.hpp"
#include "core/part_of.hpp"
#include "core/unified.hpp"
#include "model/compose.hpp"

namespace hmn {
namespace {

// Of several refusals the one that tells most: a fault rather than an absence.
failure weightiest(std::vector<failure>& all) {
  for (failure& f : all) {
    if (f.code != status::no_source) return std::move(f);
  }
  return std::move(all.front());
}

}  // namespace

template <class T, class Pick>
result<dated<T>> context::read_part(std::uint32_t index, const plan& p, budget& b, Pick&& pick) {
  std::optional<result<dated<T>>> found;
  const auto take = [&](source_reader& reader, const reply& known, const moment& m) {
    std::optional<slot> number;
    {
      const std::lock_guard lock(table_mutex_);
      number = table_.slot_of(index, reader.id());
    }
    if (!number || (found && *found)) return;
    for (const device_reply& d : known.devices) {
      if (d.identity.number == *number && (d.listed || m.late)) {
        found = part_of(pick(d), m, limits_, reader.id());
      }
    }
  };
  refusals refused = ask(p, index, b, take);
  if (found && *found) return std::move(*found);
  if (!refused.empty()) {
    std::vector<failure> all;
    for (refusal& r : refused) all.push_back(std::move(r.why));
    return weightiest(all);
  }
  if (found) {
    if (found->why().code == status::device_lost) {
      const std::lock_guard lock(table_mutex_);
      table_.set_state(index, state::lost);
    }
    return std::move(found->why());
  }
  return failure{
      status::device_lost, source::none, {}, compose({"device ", index, " was here and is gone"})};
}

result<dated<pool>> context::pool(std::uint32_t index, pool_kind kind) {
  budget b = new_budget();
  if (result<void> ok = know(index, b); !ok) return ok.why();
  plan p = new_plan();
  p.pools = true;
  auto all = read_part<pools>(
      index, p, b, [](const device_reply& d) -> auto& { return d.pools; });
  if (!all) return std::move(all.why());
  fill_unified(all->value, *host_);
  const hmn::pool* found = all->value.find(kind);
  if (found == nullptr) {
    return failure{status::unsupported,
                   source::none,
                   {},
                   compose({"device ", index, " has no such memory pool"})};
  }
  if (!found->total && !found->free && !found->used && !found->reserved && !found->usable &&
      !found->budget) {
    return failure{status::unsupported,
                   found->from,
                   {},
                   compose({"device ", index, " has no figures for this memory pool"})};
  }
  return dated<hmn::pool>{*found, all->age_ns};
}

result<dated<telemetry>> context::telemetry(std::uint32_t index, std::uint32_t fields) {
  budget b = new_budget();
  if (result<void> ok = know(index, b); !ok) return ok.why();
  plan p = new_plan();
  p.telemetry = fields;
  return read_part<hmn::telemetry>(
      index, p, b, [](const device_reply& d) -> auto& { return d.telemetry; });
}

result<dated<usage>> context::process(std::uint32_t index, std::uint32_t pid) {
  budget b = new_budget();
  if (result<void> ok = know(index, b); !ok) return ok.why();
  plan p = new_plan();
  p.pid = pid;
  auto row = read_part<usage>(
      index, p, b, [](const device_reply& d) -> auto& { return d.process; });
  if (row && row->value.pid != pid) {
    return failure{
        status::timeout, row->value.from, {}, "the driver did not answer within the deadline"};
  }
  if (row && (row->value.notes & note::foreign_pid) == 0) host_->describe(row->value);
  return row;
}

result<dated<usage>> context::own_usage(std::uint32_t index) {
  budget b = new_budget();
  if (result<void> ok = know(index, b); !ok) return ok.why();
  plan p = new_plan();
  p.self = true;
  return read_part<usage>(
      index, p, b, [](const device_reply& d) -> auto& { return d.self; });
}

}  // namespace hmn
