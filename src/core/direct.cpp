// SPDX-License-Identifier: MIT OR Apache-2.0
//
// Readings of one part of one device.
#include "core/context.hpp"
#include "core/merge.hpp"
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

template <class T>
auto picker(const limits& l, part<T> device_reply::*which) {
  return [&l, which](const device_reply& d, const reply&, const moment& m, source from) {
    return part_of(d.*which, m, l, from);
  };
}

// One of all that a device tells, else why it is missing.
result<dated<metric>> metric_of(const result<dated<std::vector<metric>>>& all, metric_id id,
                                std::uint32_t instance, const device_reply& d, const reply& known) {
  if (!all) return all.why();
  metric wanted;
  wanted.id = id;
  wanted.instance = instance;
  for (const metric& m : all->value) {
    if (is_same_number(m, wanted)) return dated<metric>{m, all->age_ns};
  }
  for (const diagnostic& r : known.remarks) {
    const bool is_reason = r.about == subject::metrics && r.device == d.identity.number &&
                           r.field == static_cast<std::uint32_t>(id);
    if (is_reason) return r.why;
  }
  return failure{status::unsupported,
                 d.identity.from,
                 {},
                 "the device has no such number, or its driver does not tell it"};
}

// A process begins before the driver counts it; btime of /proc/stat has whole seconds.
constexpr std::uint64_t slack_ns = 2 * platform::ns_per_second;

// The account of a process that is not listed is kept by its pid, which may have been given anew.
bool settle_account(usage& row) {
  if (!row.counted_since_ns) return true;
  if (!row.start_unix_ns) row.start_unix_ns = row.counted_since_ns;
  return *row.start_unix_ns <= *row.counted_since_ns + slack_ns;
}

// Whether no other source has to be asked.
template <class T>
bool is_all(const T&, const plan&) {
  return true;
}
bool is_all(const pools& all, const plan& p) {
  return all.find(p.pool) != nullptr;
}
bool is_all(const telemetry& t, const plan& p) {
  return (p.telemetry & ~fields_of(t)) == 0;
}

void add(dated<telemetry>& known, const dated<telemetry>& fresh) {
  merge(known, fresh);
}
void add(dated<pools>& known, const dated<pools>& fresh) {
  for (pool p : fresh.value.all()) {
    p.is_main = false;
    if (known.value.find(p.kind) == nullptr) known.value.add(p);
  }
}
template <class T>
void add(dated<T>&, const dated<T>&) {}

}  // namespace

result<void> context::read_part(std::uint32_t index, const plan& p, budget& b, taker at) {
  std::optional<failure> missing;
  bool found = false;
  bool enough = false;
  const auto visit = [&](source_reader& reader, const reply& known, const moment& m) {
    std::optional<slot> number;
    {
      const std::lock_guard lock(table_mutex_);
      number = table_.slot_of(index, reader.id());
    }
    if (!number) return;
    for (const device_reply& d : known.devices) {
      if (d.identity.number != *number || (!d.listed && !m.late)) continue;
      result<void> taken = at(d, known, m, reader.id(), enough);
      found = found || taken;
      // Sources are asked from the best on: of failures the first.
      if (!taken && !missing) missing = std::move(taken.why());
    }
  };
  refusals refused = ask(p, index, b, visit, &enough);
  if (found) return {};
  if (!refused.empty()) {
    std::vector<failure> all;
    for (refusal& r : refused) all.push_back(std::move(r.why));
    return weightiest(all);
  }
  if (missing) {
    if (missing->code == status::device_lost) {
      const std::lock_guard lock(table_mutex_);
      table_.set_state(index, state::lost);
    }
    return std::move(*missing);
  }
  return failure{
      status::device_lost, source::none, {}, {"device ", index, " was here and is gone"}};
}

template <class T, class Pick>
result<dated<T>> context::read_value(std::uint32_t index, const plan& p, budget& b, Pick&& pick) {
  std::optional<dated<T>> value;
  result<void> told = read_part(index, p, b,
                                [&](const device_reply& d, const reply& known, const moment& m,
                                    source from, bool& enough) -> result<void> {
                                  auto fresh = pick(d, known, m, from);
                                  if (!fresh) return std::move(fresh.why());
                                  if (!value) {
                                    value = std::move(*fresh);
                                  } else {
                                    add(*value, *fresh);
                                  }
                                  enough = is_all(value->value, p);
                                  return {};
                                });
  if (!told) return std::move(told.why());
  return std::move(*value);
}

text<32> context::address_of(std::uint32_t index) {
  const std::lock_guard lock(table_mutex_);
  return table_.at(index).value.pci_bus_id;
}

result<dated<pool>> context::pool(std::uint32_t index, pool_kind kind) {
  budget b = new_budget();
  if (result<void> ok = know(index, b); !ok) return ok.why();
  plan p = new_plan();
  p.pools = true;
  p.pool = kind;
  auto all = read_value<pools>(index, p, b, picker(limits_, &device_reply::pools));
  if (!all) return std::move(all.why());
  fill_from_host(all->value, address_of(index).view(), *host_);
  const hmn::pool* found = all->value.find(kind);
  if (found == nullptr) {
    return failure{
        status::unsupported, source::none, {}, {"device ", index, " has no such memory pool"}};
  }
  if (!found->total && !found->free && !found->used && !found->reserved && !found->usable &&
      !found->budget) {
    return failure{status::unsupported,
                   found->from,
                   {},
                   {"device ", index, " has no figures for this memory pool"}};
  }
  return dated<hmn::pool>{*found, all->age_ns};
}

result<dated<telemetry>> context::telemetry(std::uint32_t index, std::uint32_t fields) {
  budget b = new_budget();
  if (result<void> ok = know(index, b); !ok) return ok.why();
  plan p = new_plan();
  p.telemetry = fields;
  return read_value<hmn::telemetry>(index, p, b, picker(limits_, &device_reply::telemetry));
}

// A slow reading is made only where a fast one has not told.
result<dated<metric>> context::metric(std::uint32_t index, metric_id id, std::uint32_t instance) {
  budget b = new_budget();
  if (result<void> ok = know(index, b); !ok) return ok.why();
  const auto pick = [&](const device_reply& d, const reply& known, const moment& m, source from) {
    return metric_of(part_of(d.metrics, m, limits_, from), id, instance, d, known);
  };
  plan p = new_plan();
  p.metrics = true;
  auto told = read_value<hmn::metric>(index, p, b, pick);
  if (told || told.why().code != status::unsupported) return told;
  p.slow = true;
  return read_value<hmn::metric>(index, p, b, pick);
}

result<dated<usage>> context::process(std::uint32_t index, std::uint32_t pid) {
  budget b = new_budget();
  if (result<void> ok = know(index, b); !ok) return ok.why();
  plan p = new_plan();
  p.pid = pid;
  auto row = read_value<usage>(index, p, b, picker(limits_, &device_reply::process));
  if (row && row->value.pid != pid) {
    return failure{
        status::timeout, row->value.from, {}, "the driver did not answer within the deadline"};
  }
  if (row && (row->value.notes & note::foreign_pid) == 0) host_->describe(row->value);
  if (row && !settle_account(row->value)) {
    return failure{status::no_process,
                   row->value.from,
                   {},
                   "the driver lists no such process on this device, and its account under this "
                   "pid is of an earlier one"};
  }
  return row;
}

result<dated<usage>> context::own_usage(std::uint32_t index) {
  budget b = new_budget();
  if (result<void> ok = know(index, b); !ok) return ok.why();
  plan p = new_plan();
  p.self = true;
  return read_value<usage>(index, p, b, picker(limits_, &device_reply::self));
}

}  // namespace hmn
