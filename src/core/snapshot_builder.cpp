// SPDX-License-Identifier: MIT OR Apache-2.0
#include "core/snapshot_builder.hpp"

#include <algorithm>
#include <unordered_map>

#include "core/merge.hpp"
#include "core/part_of.hpp"
#include "core/unified.hpp"
#include "model/compose.hpp"
#include "model/sort.hpp"

namespace hmn {
namespace {

constexpr std::uint32_t of_devices = subject::all & ~(subject::memory | subject::system);

bool is_alike(const snapshot_diagnostic& a, const diagnostic& b,
              std::optional<std::uint32_t> index) {
  const failure& x = a.value.why;
  const failure& y = b.why;
  return x.code == y.code && x.from == y.from && x.native.code == y.native.code &&
         x.native.domain == y.native.domain && a.value.about == b.about &&
         a.value.field == b.field && a.device_index == index &&
         a.value.pid.has_value() == b.pid.has_value() && x.message == y.message;
}

// Whether the reading came past the device: behind a call that hangs, none is. Slow metrics may
// well outlast a deadline.
bool was_reached(const device_reply& d, const plan& p, const moment& m) {
  return (!p.pools || d.pools.tried_ns >= m.since) && (!p.self || d.self.tried_ns >= m.since) &&
         (!p.processes || d.processes.tried_ns >= m.since) &&
         (p.telemetry == 0 || d.telemetry.tried_ns >= m.since) &&
         (!p.metrics || p.slow || d.metrics.tried_ns >= m.since) &&
         (!m.late || p.pools || p.self || p.processes || p.telemetry != 0 || p.metrics);
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
  plan_.metrics = wants(subject::metrics);
  plan_.slow = request.slow;
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
  add_what_is_missing();
  add_known_devices();
  add_refusals(refused);
  if (plan_.metrics) add_groups();
  if (plan_.processes && !request_.without_hosts_part) describe_processes();
  if (plan_.processes && plan_.pools) attribute_pools();
  return {};
}

void snapshot_builder::add_source(source_reader& reader, const reply& known, const moment& m) {
  if (!m.late) {
    for (const diagnostic& remark : known.remarks) {
      std::optional<std::uint32_t> index;
      if (remark.device) {
        const std::lock_guard lock(from_.table_mutex_);
        index = from_.table_.index_of(reader.id(), *remark.device);
      }
      add_remark(remark, index);
    }
  }
  for (const device_reply& d : known.devices) {
    if (d.listed) add_device(reader, d, m);
  }
}

// What a better source has told of a device, a lesser one need not.
void snapshot_builder::add_remark(const diagnostic& remark, std::optional<std::uint32_t> index) {
  if (remark.device && request_.device_index && index != request_.device_index) return;
  if (plan_.processes) out_->unreadable_processes += remark.unreadable_processes;
  const snapshot_device* const d = index ? out_->device_by_index(*index) : nullptr;
  const bool is_trace = (remark.notes & note::trace) != 0;
  if (d != nullptr && !is_trace && (d->told & remark.about) != 0) return;
  add_diagnostic(remark, index);
}

snapshot_device& snapshot_builder::entry_of(const numbered_device& who) {
  if (snapshot_device* const known = out_->device_by_index(who.index)) return *known;
  return out_->devices.emplace_back(snapshot_device{who, {}, {}, 0});
}

void snapshot_builder::add_device(source_reader& reader, const device_reply& d, const moment& m) {
  numbered_device who;
  {
    const std::lock_guard lock(from_.table_mutex_);
    const auto index = from_.table_.index_of(reader.id(), d.identity.number);
    if (!index || (request_.device_index && index != request_.device_index)) return;
    who = from_.table_.at(*index);
  }
  snapshot_device& to = entry_of(who);
  const bool is_first = to.told == 0;
  const bool is_hung = to.identity.value.state == state::hung;
  to.identity = who;
  if ((is_first && !was_reached(d, plan_, m)) || is_hung) {
    to.identity.value.state = state::hung;
  }
  const auto is_open = [&](std::uint32_t about) { return (to.told & about) == 0; };
  const std::uint32_t index = who.index;
  std::uint32_t told = subject::devices;
  if (plan_.pools && add_pools(index, d, m)) told |= subject::pools;
  if (plan_.self && is_open(subject::self) && add_self(to, d, m)) told |= subject::self;
  if (plan_.processes && is_open(subject::processes) && add_processes(index, d, m)) {
    told |= subject::processes;
  }
  if (plan_.telemetry != 0 && add_telemetry(to, d, m)) told |= subject::telemetry;
  if (plan_.metrics && add_metrics(index, d, m)) told |= subject::metrics;
  to.told |= told;
}

bool snapshot_builder::add_pools(std::uint32_t index, const device_reply& d, const moment& m) {
  auto all = part_of(d.pools, m, from_.limits_, d.identity.from);
  if (!all) return add_missing(std::move(all.why()), subject::pools, index);
  fill_from_host(all->value, d.identity.pci_bus_id.view(), *from_.host_);
  for (const pool& p : all->value.all()) add_pool(index, {p, all->age_ns});
  return !all->value.all().empty();
}

// A lesser source adds what a better one leaves open, and a kind of memory that it does not tell
// of.
void snapshot_builder::add_pool(std::uint32_t index, dated<pool> fresh) {
  bool is_main = fresh.value.is_main;
  for (snapshot_pool& p : out_->pools) {
    const pool& known = p.value.value;
    if (p.device_index != index || known.from == fresh.value.from) continue;
    if (known.kind == fresh.value.kind) return merge(p.value, fresh);
    if (known.kind == pool_kind::unified) return;
    is_main = is_main && !known.is_main;
  }
  fresh.value.is_main = is_main;
  out_->pools.push_back({index, fresh});
}

bool snapshot_builder::add_self(snapshot_device& to, const device_reply& d, const moment& m) {
  auto own = part_of(d.self, m, from_.limits_, d.identity.from);
  if (!own) {
    return !to.self && add_missing(std::move(own.why()), subject::self, to.identity.index);
  }
  const bool is_known = own->value.used.has_value();
  if (!to.self || is_known) to.self = std::move(*own);
  return is_known;
}

bool snapshot_builder::add_telemetry(snapshot_device& to, const device_reply& d, const moment& m) {
  auto all = part_of(d.telemetry, m, from_.limits_, d.identity.from);
  if (!all) return add_missing(std::move(all.why()), subject::telemetry, to.identity.index);
  if (to.telemetry) {
    merge(*to.telemetry, *all);
  } else {
    to.telemetry = std::move(*all);
  }
  return true;
}

bool snapshot_builder::add_processes(std::uint32_t index, const device_reply& d, const moment& m) {
  auto rows = part_of(d.processes, m, from_.limits_, d.identity.from);
  if (!rows) return add_missing(std::move(rows.why()), subject::processes, index);
  bool summable = true;
  for (usage& row : rows->value) {
    summable = summable && row.used.has_value();
    if (request_.pid && row.pid != *request_.pid) continue;
    out_->usages.push_back({index, {std::move(row), rows->age_ns}});
  }
  if (!summable) unsummable_.push_back(index);
  return true;
}

// Of several sources that tell the same number, the first is heard.
bool snapshot_builder::add_metrics(std::uint32_t index, const device_reply& d, const moment& m) {
  auto all = part_of(d.metrics, m, from_.limits_, d.identity.from);
  if (!all) return add_missing(std::move(all.why()), subject::metrics, index);
  const std::size_t before = out_->metrics.size();
  const auto is_known = [&](const metric& fresh) {
    for (std::size_t i = 0; i < before; ++i) {
      const snapshot_metric& known = out_->metrics[i];
      if (known.device_index == index && is_same_number(known.value.value, fresh)) return true;
    }
    return false;
  };
  for (const metric& fresh : all->value) {
    if (!is_known(fresh)) out_->metrics.push_back({index, {fresh, all->age_ns}});
  }
  return true;
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

bool snapshot_builder::add_missing(failure why, std::uint32_t about, std::uint32_t index) {
  missing_.push_back({index, about, std::move(why)});
  return false;
}

// What the first of several sources said of a part that none could tell.
void snapshot_builder::add_what_is_missing() {
  for (missing_part& p : missing_) {
    snapshot_device* const d = out_->device_by_index(p.index);
    if (d == nullptr || (d->told & p.about) != 0) continue;
    d->told |= p.about;
    if (p.about == subject::processes) unsummable_.push_back(p.index);
    add_diagnostic({std::move(p.why), 0, p.about, 0, {}, {}, {}}, p.index);
  }
}

// A field that one source missed and another had is not missing.
void snapshot_builder::drop_what_was_found() {
  const auto is_found = [this](snapshot_diagnostic& d) {
    if (d.value.about != subject::telemetry || d.value.field == 0 || !d.device_index) return false;
    const snapshot_device* const of = out_->device_by_index(*d.device_index);
    if (of == nullptr || !of->telemetry) return false;
    d.value.field &= ~fields_of(of->telemetry->value);
    return d.value.field == 0;
  };
  std::erase_if(out_->diagnostics, is_found);
}

void snapshot_builder::note_what_is_partial() {
  for (const snapshot_diagnostic& d : out_->diagnostics) {
    const status code = d.value.why.code;
    const bool is_news = code != status::unsupported && code != status::no_device;
    if (is_news && (d.value.notes & note::trace) == 0) out_->notes |= note::partial;
  }
}

void snapshot_builder::add_diagnostic(diagnostic d, std::optional<std::uint32_t> index) {
  const bool is_trace = (d.notes & note::trace) != 0;
  if (!is_trace) {
    const auto alike =
        std::ranges::find_if(out_->diagnostics.rbegin(), out_->diagnostics.rend(),
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
      from_.host_->describe_texts(row);
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
    if (row.command.empty()) row.command = other.command;
    if (row.container.empty()) row.container = other.container;
  }
}

namespace {

// What the rows of a device use together. A buffer that several hold is in the figure of each: then
// the union lies between the two.
struct row_sum {
  bool fits = true;  // 64 bits, and the pool's way of counting
  std::uint64_t at_most = 0;
  std::uint64_t alone = 0;  // the parts that no other process holds
  std::uint64_t largest_shared = 0;
  std::uint32_t sharing = 0;  // rows with a part that others may hold as well

  void add(const usage& row) noexcept {
    // fdinfo counts a shared buffer in each of its holders, and older drivers do not say how much.
    const bool is_untold = !row.shared && row.accounting != accounting::allocated;
    const std::uint64_t shared =
        is_untold ? *row.used : std::min(row.shared.value_or(0), *row.used);
    // What is promised is not what is used.
    fits = fits && row.accounting != accounting::committed &&
           !__builtin_add_overflow(at_most, *row.used, &at_most);
    alone += *row.used - shared;
    largest_shared = std::max(largest_shared, shared);
    if (shared != 0) ++sharing;
  }
  [[nodiscard]] bool is_exact() const noexcept { return sharing < 2; }
  [[nodiscard]] std::uint64_t at_least() const noexcept { return alone + largest_shared; }
};

failure shared_by_several(const pool& p, const row_sum& sum) {
  return {status::unsupported,
          p.from,
          {},
          {"processes share memory: ", *p.used - std::min(*p.used, sum.at_most), " to ",
           *p.used - sum.at_least(), " bytes are used by none that can be seen"}};
}

}  // namespace

// What is used and owned by no process that can be seen. Not for a GPU that is split: its processes
// stand under its partitions.
void snapshot_builder::attribute_pools() {
  if (request_.pid) return;
  const auto is_split = [&](std::uint32_t index) {
    return std::ranges::any_of(out_->devices,
                               [&](const auto& d) { return d.identity.parent_index == index; });
  };
  // Rows of a unified device count all of its memory, not that of one of several pools.
  const auto is_a_part = [&](std::uint32_t index, const pool& p) {
    const snapshot_device* const of = out_->device_by_index(index);
    return of != nullptr && of->identity.value.memory_kind == memory_kind::unified &&
           p.kind != pool_kind::unified;
  };
  for (snapshot_pool& p : out_->pools) {
    pool& value = p.value.value;
    const bool unsummable = std::ranges::find(unsummable_, p.device_index) != unsummable_.end();
    if (!value.is_main || !value.used || unsummable || is_split(p.device_index)) continue;
    if (is_a_part(p.device_index, value)) continue;
    if ((value.notes & (note::lower_bound | note::estimated)) != 0) continue;
    attribute(p.device_index, value);
  }
}

void snapshot_builder::attribute(std::uint32_t index, pool& p) {
  row_sum sum;
  for (const snapshot_usage& u : out_->usages) {
    if (u.device_index == index) sum.add(u.value.value);
  }
  if (!sum.fits || sum.at_least() > *p.used) return;
  if (!sum.is_exact()) {
    return add_diagnostic(
        {shared_by_several(p, sum), 0, subject::pools, pool_field::unattributed, {}, {}, {}},
        index);
  }
  if (sum.at_most <= *p.used) p.unattributed = *p.used - sum.at_most;
}

void snapshot_builder::finish() {
  const auto by_index = [](const auto& a, const auto& b) {
    return a.identity.index < b.identity.index;
  };
  sort_stably(out_->devices, by_index);
  sort_stably(out_->pools, [](const auto& a, const auto& b) {
    return std::pair(a.device_index, !a.value.value.is_main) <
           std::pair(b.device_index, !b.value.value.is_main);
  });
  sort_stably(out_->usages, [](const auto& a, const auto& b) {
    return std::pair(a.device_index, a.value.value.pid) <
           std::pair(b.device_index, b.value.value.pid);
  });
  sort_stably(out_->metrics,
              [](const auto& a, const auto& b) { return a.device_index < b.device_index; });
  drop_what_was_found();
  note_what_is_partial();
  out_->duration_ns = platform::monotonic_ns() - out_->monotonic_ns;
}

result<std::unique_ptr<snapshot>> context::take(const snapshot_request& request) {
  return snapshot_builder(*this, request).build();
}

}  // namespace hmn
