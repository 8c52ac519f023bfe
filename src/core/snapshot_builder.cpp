// SPDX-License-Identifier: MIT OR Apache-2.0
#include "core/snapshot_builder.hpp"

#include <algorithm>
#include <unordered_map>

#include "core/part_of.hpp"
#include "core/unified.hpp"

namespace hmn {
namespace {

constexpr std::uint32_t of_devices =
    subject::devices | subject::pools | subject::self | subject::processes | subject::telemetry;

bool is_alike(const snapshot_diagnostic& a, const diagnostic& b,
              std::optional<std::uint32_t> index) {
  const failure& x = a.value.why;
  const failure& y = b.why;
  return x.code == y.code && x.from == y.from && x.native.code == y.native.code &&
         x.native.domain == y.native.domain && a.value.about == b.about &&
         a.value.field == b.field && a.device_index == index &&
         a.value.pid.has_value() == b.pid.has_value() && x.message == y.message;
}

// Whether the reading came past the device: behind a call that hangs, none is.
bool was_reached(const device_reply& d, const plan& p, const moment& m) {
  return (!p.pools || d.pools.tried_ns >= m.since) && (!p.self || d.self.tried_ns >= m.since) &&
         (!p.processes || d.processes.tried_ns >= m.since) &&
         (p.telemetry == 0 || d.telemetry.tried_ns >= m.since) &&
         (!m.late || p.pools || p.self || p.processes || p.telemetry != 0);
}

}  // namespace

snapshot_builder::snapshot_builder(context& from, const snapshot_request& request)
    : from_(from), request_(request), plan_(from.new_plan()), out_(std::make_unique<snapshot>()) {
  out_->collect = request.collect;
  if (wants(of_devices)) out_->collect |= subject::devices;
  plan_.list = wants(of_devices);
  plan_.pools = wants(subject::pools);
  plan_.self = wants(subject::self);
  plan_.processes = wants(subject::processes);
  plan_.telemetry = wants(subject::telemetry) ? telemetry_field::all : 0;
  plan_.wants_trace = from.settings_.trace;
}

result<std::unique_ptr<snapshot>> snapshot_builder::build() {
  out_->unix_time_ns = platform::unix_ns();
  out_->monotonic_ns = platform::monotonic_ns();
  from_.start();
  add_host();
  if (wants(of_devices)) {
    if (result<void> ok = add_devices(); !ok) return ok.why();
  }
  finish();
  return std::move(out_);
}

void snapshot_builder::add_host() {
  if (wants(subject::memory)) {
    process_memory own;
    own.pid = from_.own_pid_;
    if (result<void> ok = from_.host_->own_memory(process_memory_field::cheap, own)) {
      out_->memory = own;
    } else {
      add_diagnostic({std::move(ok.why()), 0, subject::memory, 0, {}, {}, {}}, {});
    }
  }
  if (!wants(subject::system)) return;
  system_memory system;
  if (result<void> ok = from_.host_->system(system)) {
    out_->system = system;
  } else {
    add_diagnostic({std::move(ok.why()), 0, subject::system, 0, {}, {}, {}}, {});
  }
}

result<void> snapshot_builder::add_devices() {
  budget b = from_.new_budget(request_.deadline_ns);
  if (request_.device_index) {
    if (result<void> ok = from_.know(*request_.device_index, b); !ok) return ok;
  }
  const auto refused = from_.ask(plan_, request_.device_index, b,
                                 [this](source_reader& reader, const reply& known,
                                        const moment& m) { add_source(reader, known, m); });
  add_known_devices();
  add_refusals(refused);
  if (plan_.processes) describe_processes();
  if (plan_.processes && plan_.pools) attribute_pools();
  return {};
}

void snapshot_builder::add_source(source_reader& reader, const reply& known, const moment& m) {
  for (const device_reply& d : known.devices) {
    if (d.listed) add_device(reader, d, m);
  }
  if (m.late) return;
  for (const diagnostic& remark : known.remarks) {
    std::optional<std::uint32_t> index;
    if (remark.device) {
      const std::lock_guard lock(from_.table_mutex_);
      index = from_.table_.index_of(reader.id(), *remark.device);
    }
    if (remark.device && request_.device_index && index != request_.device_index) continue;
    if (plan_.processes) out_->unreadable_processes += remark.unreadable_processes;
    add_diagnostic(remark, index);
  }
}

void snapshot_builder::add_device(source_reader& reader, const device_reply& d, const moment& m) {
  snapshot_device to;
  {
    const std::lock_guard lock(from_.table_mutex_);
    const auto index = from_.table_.index_of(reader.id(), d.identity.number);
    if (!index || (request_.device_index && index != request_.device_index)) return;
    to.identity = from_.table_.at(*index);
  }
  const std::uint32_t index = to.identity.index;
  if (!was_reached(d, plan_, m)) to.identity.value.state = state::hung;
  if (out_->device_by_index(index) != nullptr) return;
  if (plan_.pools) add_pools(index, d, m);
  if (plan_.self) add_self(to, d, m);
  if (plan_.processes) add_processes(index, d, m);
  if (plan_.telemetry != 0) add_telemetry(to, d, m);
  out_->devices.push_back(std::move(to));
}

void snapshot_builder::add_pools(std::uint32_t index, const device_reply& d, const moment& m) {
  auto all = part_of(d.pools, m, from_.limits_, d.identity.from);
  if (!all) return add_missing(std::move(all.why()), subject::pools, index);
  fill_unified(all->value, *from_.host_);
  for (const pool& p : all->value.all()) out_->pools.push_back({index, {p, all->age_ns}});
}

void snapshot_builder::add_self(snapshot_device& to, const device_reply& d, const moment& m) {
  auto own = part_of(d.self, m, from_.limits_, d.identity.from);
  if (!own) return add_missing(std::move(own.why()), subject::self, to.identity.index);
  to.self = std::move(*own);
}

void snapshot_builder::add_telemetry(snapshot_device& to, const device_reply& d, const moment& m) {
  auto all = part_of(d.telemetry, m, from_.limits_, d.identity.from);
  if (!all) return add_missing(std::move(all.why()), subject::telemetry, to.identity.index);
  to.telemetry = std::move(*all);
}

void snapshot_builder::add_processes(std::uint32_t index, const device_reply& d, const moment& m) {
  auto rows = part_of(d.processes, m, from_.limits_, d.identity.from);
  if (!rows) {
    unsummable_.push_back(index);
    return add_missing(std::move(rows.why()), subject::processes, index);
  }
  bool summable = true;
  for (usage& row : rows->value) {
    summable = summable && row.used.has_value();
    if (request_.pid && row.pid != *request_.pid) continue;
    out_->usages.push_back({index, {std::move(row), rows->age_ns}});
  }
  if (!summable) unsummable_.push_back(index);
}

// Devices that no source answered for, with what is known of them.
void snapshot_builder::add_known_devices() {
  const std::lock_guard lock(from_.table_mutex_);
  for (std::uint32_t i = 0; i < from_.table_.count(); ++i) {
    if (request_.device_index && i != *request_.device_index) continue;
    if (out_->device_by_index(i) != nullptr) continue;
    snapshot_device gone;
    gone.identity = from_.table_.at(i);
    out_->devices.push_back(std::move(gone));
  }
}

void snapshot_builder::add_refusals(const std::vector<context::refusal>& refused) {
  const bool none_at_all = out_->devices.empty();
  for (const context::refusal& r : refused) {
    // A source that is simply not on this machine is news only where nothing else was found.
    if (r.conclusive && !none_at_all) continue;
    diagnostic d{r.why, 0, subject::devices, 0, {}, {}, {}};
    if (r.conclusive) d.why.code = status::no_device;
    add_diagnostic(std::move(d), {});
  }
}

void snapshot_builder::add_missing(failure why, std::uint32_t about, std::uint32_t index) {
  add_diagnostic({std::move(why), 0, about, 0, {}, {}, {}}, index);
}

void snapshot_builder::add_diagnostic(diagnostic d, std::optional<std::uint32_t> index) {
  const bool is_trace = (d.notes & note::trace) != 0;
  const bool is_news = d.why.code != status::unsupported && d.why.code != status::no_device;
  if (!is_trace && is_news) out_->notes |= note::partial;
  if (!is_trace) {
    const auto alike = std::find_if(out_->diagnostics.rbegin(), out_->diagnostics.rend(),
                                    [&](const auto& known) { return is_alike(known, d, index); });
    if (alike != out_->diagnostics.rend()) {
      ++alike->count;
      return;
    }
  }
  out_->diagnostics.push_back({std::move(d), index, 1});
}

void snapshot_builder::describe_processes() {
  std::unordered_map<std::uint32_t, const usage*> described;
  for (snapshot_usage& u : out_->usages) {
    usage& row = u.value.value;
    if ((row.notes & note::foreign_pid) != 0) continue;
    const auto [known, is_new] = described.try_emplace(row.pid, &row);
    if (is_new) {
      from_.host_->describe(row);
      if (row.name_state == name_state::protected_process) ++out_->unreadable_processes;
      continue;
    }
    const usage& other = *known->second;
    if (row.name_state == name_state::unknown) {
      row.name_state = other.name_state;
      row.name = other.name;
    }
    if (!row.start_unix_ns) row.start_unix_ns = other.start_unix_ns;
    if (!row.uid) row.uid = other.uid;
    if (!row.host_resident) row.host_resident = other.host_resident;
  }
}

// What is used and owned by no process that can be seen. Not for a GPU that is split: its processes
// stand under its partitions.
void snapshot_builder::attribute_pools() {
  if (request_.pid) return;
  const auto is_split = [&](std::uint32_t index) {
    return std::any_of(out_->devices.begin(), out_->devices.end(),
                       [&](const auto& d) { return d.identity.parent_index == index; });
  };
  for (snapshot_pool& p : out_->pools) {
    pool& value = p.value.value;
    const bool unsummable =
        std::find(unsummable_.begin(), unsummable_.end(), p.device_index) != unsummable_.end();
    if (!value.is_main || !value.used || unsummable || is_split(p.device_index)) continue;
    if ((value.notes & (note::lower_bound | note::estimated)) != 0) continue;
    std::uint64_t left = *value.used;
    bool fits = true;
    for (const snapshot_usage& u : out_->usages) {
      if (u.device_index != p.device_index) continue;
      fits = fits && *u.value.value.used <= left;
      if (fits) left -= *u.value.value.used;
    }
    if (fits) value.unattributed = left;
  }
}

void snapshot_builder::finish() {
  const auto by_index = [](const auto& a, const auto& b) {
    return a.identity.index < b.identity.index;
  };
  std::sort(out_->devices.begin(), out_->devices.end(), by_index);
  std::stable_sort(out_->pools.begin(), out_->pools.end(), [](const auto& a, const auto& b) {
    return std::pair(a.device_index, !a.value.value.is_main) <
           std::pair(b.device_index, !b.value.value.is_main);
  });
  std::stable_sort(out_->usages.begin(), out_->usages.end(), [](const auto& a, const auto& b) {
    return std::pair(a.device_index, a.value.value.pid) <
           std::pair(b.device_index, b.value.value.pid);
  });
  out_->duration_ns = platform::monotonic_ns() - out_->monotonic_ns;
}

result<std::unique_ptr<snapshot>> context::take(const snapshot_request& request) {
  return snapshot_builder(*this, request).build();
}

}  // namespace hmn
