// SPDX-License-Identifier: MIT OR Apache-2.0
#include <algorithm>
#include <span>
#include <utility>
#include <vector>

#include "core/context.hpp"
#include "core/reason.hpp"
#include "core/usable.hpp"
#include "model/message_text.hpp"
#include "model/record.hpp"
#include "model/sort.hpp"
#include "model/usage_sum.hpp"

namespace hmn {
namespace {

Failure unknown(const Pool& p, const char* why) {
  return {Status::unsupported, p.from, {}, why, Reason::ambiguous};
}

Failure shared_by_several(const Pool& p, const UsageSum& sum) {
  return {Status::unsupported,
          p.from,
          {},
          {"processes share memory: ", *p.used - std::min(*p.used, sum.at_most()), " to ",
           *p.used - sum.at_least(), " bytes are used by none that can be seen"},
          Reason::ambiguous};
}

// Adds what a row uses of the pool. That of a unified device counts host RAM as used, too. Returns
// false where the part is not known.
bool add_part(const Usage& row, MemoryKind memory, PoolKind kind, UsageSum& sum) {
  const bool is_own = row.accounting == Accounting::allocated;
  if (kind == PoolKind::host) {
    if (row.clients) sum.add(row.clients->host_pool);
    if (!row.clients && row.host_pool) sum.add(*row.host_pool, row.shared, is_own);
    return row.host_pool.has_value();
  }
  if (memory == MemoryKind::unified && kind == PoolKind::vram) {
    const bool is_bound =
        row.clients && (!row.clients->used.is_exact() || !row.clients->host_pool.is_exact());
    if (row.host_pool) sum.add(*row.used - std::min(*row.used, *row.host_pool), row.shared, is_own);
    return row.host_pool && !is_bound;
  }
  if (row.clients) {
    sum.add(row.clients->used);
  } else {
    sum.add(*row.used, row.shared, is_own);
  }
  return true;
}

std::optional<Failure> attribute(std::span<const Usage> rows, MemoryKind memory, Pool& p) {
  UsageSum sum;
  bool fits = true;
  for (const Usage& row : rows) {
    // Committed memory is not used memory.
    fits = fits && row.accounting != Accounting::committed;
    if (!add_part(row, memory, p.kind, sum)) {
      return unknown(p, "the memory of processes is reported for all pools together");
    }
  }
  if (!fits || sum.at_least() > *p.used || (sum.is_exact() && sum.at_most() > *p.used)) {
    return unknown(p, "the memory of processes is counted differently from that of the device");
  }
  if (!sum.is_exact()) return shared_by_several(p, sum);
  p.unattributed = *p.used - sum.at_most();
  return std::nullopt;
}

// Fills the memory of the device's main pool that is used but owned by no visible process. Returns
// why that is unknown. Skips a partitioned GPU, whose processes are listed under its partitions,
// and one whose list is missing, which has a reason of its own.
std::optional<Failure> attribute_pools(MergedDevice& d) {
  if ((d.found & subject::processes) == 0 || is_divided(d.identity)) return std::nullopt;
  for (Pool& p : d.pools.all()) {
    if (!p.is_main || !p.used) continue;
    if (!d.can_be_summed) return unknown(p, "the memory of some processes is not known");
    if ((p.notes & (note::lower_bound | note::estimated)) != 0) {
      return unknown(p, "used memory is known only as a lower bound or an estimate");
    }
    return attribute(d.processes, d.identity.memory_kind, p);
  }
  return std::nullopt;
}

constexpr std::uint32_t of_devices = subject::all & ~(subject::memory | subject::system);

std::size_t place_of(std::optional<std::uint32_t> index) {
  return index ? std::size_t{*index} + 1 : 0;
}

// Whether both come from one call, whatever their fields. A metric has no bit of its own.
bool is_same_fault(const Failure& x, const Failure& y) {
  return x.code == y.code && x.from == y.from && x.native.code == y.native.code &&
         x.native.domain == y.native.domain && x.message == y.message;
}

bool is_alike(const SnapshotDiagnostic& a, const Diagnostic& b,
              std::optional<std::uint32_t> index) {
  return a.value.about == b.about && a.value.pool == b.pool &&
         (a.value.field == b.field || b.about != subject::metrics) && a.device_index == index &&
         a.value.pid == b.pid && is_same_fault(a.value.why, b.why);
}

// Returns whether the reading reached the device: none is reached after a call that hangs. Slow
// metrics may outlast a deadline.
bool was_reached(const DeviceCache& d, Plan p, const Moment& m) {
  p.metrics = p.metrics && !p.slow;
  const bool asks = p.pools || p.self || p.processes || p.telemetry != 0 || p.metrics || p.slow;
  return is_answered(d, p, m.since) && (!m.late || asks);
}

}  // namespace

class SnapshotBuilder {
 public:
  SnapshotBuilder(Context& from, const SnapshotRequest& request);

  [[nodiscard]] Result<std::unique_ptr<Snapshot>> build();

 private:
  [[nodiscard]] bool wants(std::uint32_t about) const noexcept {
    return (out_->collect & about) != 0;
  }
  void add_host();
  Result<void> add_devices();
  void add_source(Worker& from, const SourceCache& known, const Moment& m);
  void add_device(Worker& from, const DeviceCache& d, const Moment& m);
  void consider_diagnostic(const Diagnostic& given, std::optional<std::uint32_t> index);
  [[nodiscard]] MergedDevice* find(std::uint32_t index) noexcept;
  MergedDevice& add(const Device& d);
  void add_known_devices();
  void add_refusals(const std::vector<Context::Refusal>& refused);
  void add_missing();
  void add_groups();
  void explain_unusable(const MergedDevice& d);
  void settle();
  void add_diagnostic(const Diagnostic& d, std::optional<std::uint32_t> index);
  void drop_what_was_found();
  void note_what_is_partial();
  void describe_processes();
  [[nodiscard]] bool recall_texts(Usage& row) const;
  void finish();

  Context& from_;
  SnapshotRequest request_;
  Plan plan_;
  std::unique_ptr<Snapshot> out_;
  Explanations& why_;  // of out_
  std::vector<MergedDevice> merged_;
  std::vector<std::uint32_t> places_;  // [index]: of the device in merged_, from 1; 0: none
};

SnapshotBuilder::SnapshotBuilder(Context& from, const SnapshotRequest& request)
    : from_(from),
      request_(request),
      plan_(from.new_plan()),
      out_(std::make_unique<Snapshot>()),
      why_(out_->why.edit()) {
  out_->collect = request.collect;
  out_->postponed = request.postponed;
  if (wants(of_devices)) out_->collect |= subject::devices;
  plan_.list = wants(of_devices);
  plan_.pools = wants(subject::pools);
  plan_.self = wants(subject::self);
  plan_.processes = wants(subject::processes);
  plan_.telemetry = wants(subject::telemetry) ? telemetry_field::all : 0;
  plan_.metrics = wants(subject::metrics);
  plan_.slow = request.slow;
  plan_.quick = request.quick;
  plan_.wants_trace = from.settings_.trace;
}

Result<std::unique_ptr<Snapshot>> SnapshotBuilder::build() {
  out_->unix_time_ns = platform::unix_ns();
  out_->monotonic_ns = platform::monotonic_ns();
  from_.start();
  add_host();
  if (wants(of_devices)) {
    if (Result<void> ok = add_devices(); !ok) return ok.why();
  }
  finish();
  return std::move(out_);
}

void SnapshotBuilder::add_host() {
  if (wants(subject::memory)) {
    ProcessMemory own;
    own.pid = from_.own_pid_;
    if (Result<void> ok = from_.host_->own_memory(process_memory_field::cheap, own)) {
      out_->memory = own;
    } else {
      add_diagnostic({ok.why(), 0, subject::memory, 0, {}, {}, {}}, {});
    }
  }
  if (!wants(subject::system)) return;
  const auto dropped = [&](FieldSet field, const Failure& why) {
    add_diagnostic({why, 0, subject::system, field, {}, {}, {}}, {});
  };
  SystemMemory system;
  if (Result<void> ok = read_system(*from_.host_, system, dropped)) {
    out_->system = system;
  } else {
    add_diagnostic({ok.why(), 0, subject::system, 0, {}, {}, {}}, {});
  }
}

Result<void> SnapshotBuilder::add_devices() {
  Deadline d = from_.new_deadline(request_.deadline_ns, out_->monotonic_ns);
  if (request_.device_index) {
    if (Result<void> ok = from_.ensure_listed(*request_.device_index, d); !ok) return ok;
  }
  const auto refused = from_.ask(plan_, request_.device_index, d,
                                 [this](Worker& from, const SourceCache& known, const Moment& m) {
                                   add_source(from, known, m);
                                   return true;
                                 });
  if (!refused) return refused.why();
  const auto completed = from_.complete(merged_, plan_, d, [this](const SourceCache& known) {
    for (const Diagnostic& given : known.diagnostics) {
      if ((given.notes & note::trace) != 0) add_diagnostic(given, {});
    }
  });
  if (!completed) return completed;
  if (!request_.device_index) from_.remember_scan(*refused);
  add_missing();
  add_known_devices();
  add_refusals(*refused);
  if (wants(subject::groups)) add_groups();
  settle();
  if (plan_.processes && !request_.without_hosts_part) describe_processes();
  return {};
}

void SnapshotBuilder::add_source(Worker& from, const SourceCache& known, const Moment& m) {
  if (!m.late) {
    why_.diagnostics.reserve(why_.diagnostics.size() + known.diagnostics.size());
    std::optional<Slot> device;  // whose index it is
    std::optional<std::uint32_t> index;
    for (const Diagnostic& given : known.diagnostics) {
      if (given.device != device) {
        device = given.device;
        const std::lock_guard lock(from_.table_mutex_);
        index = device ? from_.table_.index_of(from.id(), *device) : std::nullopt;
      }
      consider_diagnostic(given, index);
    }
  }
  if (!request_.device_index) merged_.reserve(known.devices.size());
  for (const DeviceCache& d : known.devices) {
    if (d.listed) add_device(from, d, m);
  }
}

// Adds a diagnostic unless a preferred source has answered for the device.
void SnapshotBuilder::consider_diagnostic(const Diagnostic& given,
                                          std::optional<std::uint32_t> index) {
  if (given.device && request_.device_index && index != request_.device_index) return;
  if (plan_.processes) out_->unreadable_processes += given.unreadable_processes;
  const MergedDevice* const d = index ? find(*index) : nullptr;
  const bool is_trace = (given.notes & note::trace) != 0;
  if (d != nullptr && !is_trace && (d->found & given.about) != 0) return;
  add_diagnostic(given, index);
}

MergedDevice* SnapshotBuilder::find(std::uint32_t index) noexcept {
  return index < places_.size() && places_[index] != 0 ? &merged_[places_[index] - 1] : nullptr;
}

MergedDevice& SnapshotBuilder::add(const Device& d) {
  MergedDevice& fresh = merged_.emplace_back(d);
  if (places_.size() <= d.index) places_.resize(d.index + 1);
  places_[d.index] = static_cast<std::uint32_t>(merged_.size());
  return fresh;
}

void SnapshotBuilder::add_device(Worker& from, const DeviceCache& d, const Moment& m) {
  MergedDevice* to = nullptr;
  bool is_hung = false;
  {
    const std::lock_guard lock(from_.table_mutex_);
    const auto index = from_.table_.index_of(from.id(), d.identity.number);
    if (!index || (request_.device_index && index != request_.device_index)) return;
    const Device& known = from_.table_.at(*index);
    to = find(*index);
    if (to != nullptr) {
      is_hung = to->identity.state == State::hung;
      to->identity = known;
    } else {
      to = &add(known);
    }
  }
  const bool is_first = to->found == 0;
  if ((is_first && !was_reached(d, plan_, m)) || is_hung) to->identity.state = State::hung;
  merge(*to, d, plan_, m, from_.limits_);
  to->found |= subject::devices;
}

// Adds devices for which no source answered, as last known.
void SnapshotBuilder::add_known_devices() {
  const std::lock_guard lock(from_.table_mutex_);
  for (std::uint32_t i = 0; i < from_.table_.count(); ++i) {
    if (request_.device_index && i != *request_.device_index) continue;
    if (find(i) != nullptr) continue;
    const Device& d = merged_.emplace_back(from_.table_.at(i)).identity;
    // A partition that is gone was given up by its GPU.
    const bool is_missed = d.state == State::lost && !d.parent_index;
    if (is_missed) add_diagnostic({reason_of_state(d), 0, subject::devices, 0, {}, {}, {}}, i);
  }
}

void SnapshotBuilder::add_refusals(const std::vector<Context::Refusal>& refused) {
  const bool none_at_all = merged_.empty();
  for (const Context::Refusal& r : refused) {
    // Report an absent source only if nothing else was found.
    if (r.conclusive && !none_at_all) continue;
    // One line per fault: its devices may have reported it already.
    const bool is_known = std::ranges::any_of(why_.diagnostics, [&](const SnapshotDiagnostic& d) {
      return d.device_index && is_same_fault(d.value.why, r.why);
    });
    if (is_known) continue;
    Diagnostic d{r.why, 0, subject::devices, 0, {}, {}, {}};
    if (r.conclusive) d.why.code = Status::no_device;
    add_diagnostic(d, {});
  }
}

// Adds the reasons for subjects that no source could serve.
void SnapshotBuilder::add_missing() {
  for (MergedDevice& d : merged_) {
    drop_found(d);
    for (std::uint32_t n = 0; n < d.missing.size(); ++n) {
      if (!d.missing[n]) continue;
      if (1U << n == subject::processes) d.can_be_summed = false;
      add_diagnostic({*d.missing[n], 0, 1U << n, 0, {}, {}, {}}, d.identity.index);
    }
  }
}

// Adds the memory held by control groups; partitions are counted with their card.
void SnapshotBuilder::add_groups() {
  if (merged_.empty()) return;
  GroupMemory all;
  if (Result<void> ok = from_.host_->groups(all); !ok) {
    add_diagnostic({ok.why(), 0, subject::groups, 0, {}, {}, {}}, {});
  }
  const std::uint64_t age_ns = age_at_zero(platform::continuous_ns());
  std::ranges::stable_sort(all.parts, [](const GroupMemory::Part& a, const GroupMemory::Part& b) {
    return a.device < b.device;
  });
  for (const MergedDevice& d : merged_) {
    const Device& card = d.identity;
    const auto address = parse_pci_address(card.pci_bus_id.view());
    if (!address || card.parent_index || card.state == State::lost) continue;
    auto p = std::ranges::lower_bound(all.parts, *address, {}, &GroupMemory::Part::device);
    for (; p != all.parts.end() && p->device == *address; ++p) {
      out_->groups.push_back(
          {card.index, all.names[p->group], all.from, 0, p->used, p->limit, age_ns});
    }
  }
}

// Adds why nothing can be allocated on a divided device.
void SnapshotBuilder::explain_unusable(const MergedDevice& d) {
  const Pool* const main = d.pools.find(PoolKind::main);
  if (!is_divided(d.identity) || main == nullptr || is_stale(main->notes)) return;
  add_diagnostic(
      {why_not_usable(*main, d.identity), 0, subject::pools, pool_field::usable, {}, {}, {}},
      d.identity.index);
}

// Moves the merged values into the snapshot's lists.
void SnapshotBuilder::settle() {
  std::ranges::stable_sort(merged_, [](const MergedDevice& a, const MergedDevice& b) {
    return a.identity.index < b.identity.index;
  });
  if (!merged_.empty()) places_.resize(merged_.back().identity.index + 1);
  for (std::uint32_t i = 0; i < merged_.size(); ++i) places_[merged_[i].identity.index] = i + 1;
  const bool attributes = plan_.processes && plan_.pools && !request_.pid;
  for (MergedDevice& d : merged_) {
    from_.set_usable(d);
    explain_unusable(d);
    if (!attributes) continue;
    std::optional<Failure> why = attribute_pools(d);
    if (!why) continue;
    add_diagnostic({*why, 0, subject::pools, pool_field::unattributed, {}, {}, {}},
                   d.identity.index);
  }
  std::size_t rows = 0;
  for (const MergedDevice& d : merged_) rows += d.processes.size();
  out_->usages.reserve(rows);
  out_->devices.reserve(merged_.size());
  for (MergedDevice& d : merged_) {
    for (const Pool& p : d.pools.all()) {
      if (p.is_main) out_->pools.push_back(p);
    }
    for (const Pool& p : d.pools.all()) {
      if (!p.is_main && p.instance == 0) out_->pools.push_back(p);
    }
    for (const Pool& p : d.pools.all()) {
      if (request_.parts && p.instance != 0) out_->pools.push_back(p);
    }
    std::ranges::stable_sort(d.processes,
                             [](const Usage& a, const Usage& b) { return a.pid < b.pid; });
    for (Usage& row : d.processes) {
      if (!request_.pid || row.pid == *request_.pid) out_->usages.push_back(std::move(row));
    }
    out_->metrics.insert(out_->metrics.end(), d.metrics.begin(), d.metrics.end());
    out_->devices.emplace_back(d.identity, std::move(d.telemetry), std::move(d.self));
  }
}

// Drops diagnostics about fields that another source provided.
void SnapshotBuilder::drop_what_was_found() {
  const auto is_found = [this](SnapshotDiagnostic& d) {
    if (d.value.field == 0 || !d.device_index) return false;
    MergedDevice* const merged = find(*d.device_index);
    const SnapshotDevice* const of = out_->device_by_index(*d.device_index);
    if (merged == nullptr || of == nullptr || d.value.about == subject::metrics) return false;
    const std::uint32_t about = d.value.about;
    FieldSet found = 0;
    if (about == subject::devices) found = present_bits(*of->identity, d.value.field);
    if (about == subject::telemetry && of->telemetry) {
      found = present_bits(*of->telemetry, d.value.field);
    }
    if ((merged->completed & about & (subject::self | subject::processes)) != 0) {
      found = usage_field::used | usage_field::allocated;
    }
    const PoolKey key = d.value.pool.value_or(PoolKey{});
    const Pool* const known = merged->pools.find(key.kind, key.instance);
    if ((merged->completed & about & subject::pools) != 0 && known != nullptr) {
      found = present_bits(*known, d.value.field);
    }
    d.value.field &= ~found;
    return d.value.field == 0;
  };
  if (std::erase_if(why_.diagnostics, is_found) == 0) return;
  std::ranges::fill(why_.latest, 0);
  std::uint32_t position = 0;
  for (SnapshotDiagnostic& d : why_.diagnostics) {
    d.before = std::exchange(why_.latest[place_of(d.device_index)], ++position);
  }
}

void SnapshotBuilder::note_what_is_partial() {
  for (const SnapshotDiagnostic& d : why_.diagnostics) {
    const Status code = d.value.why.code;
    const bool is_news =
        code != Status::ok && code != Status::unsupported && code != Status::no_device;
    if (!is_news || (d.value.notes & note::trace) != 0) continue;
    out_->notes |= note::partial;
    const bool is_of_list = d.value.about == subject::devices && d.value.field == 0;
    // A driver that is absent has no device.
    const bool may_hide = code != Status::asleep && code != Status::no_source;
    if (is_of_list && may_hide) out_->notes |= note::lower_bound;
  }
}

void SnapshotBuilder::add_diagnostic(const Diagnostic& d, std::optional<std::uint32_t> index) {
  const bool is_trace = (d.notes & note::trace) != 0;
  const std::size_t of = place_of(index);
  if (why_.latest.size() <= of) why_.latest.resize(of + 1);
  std::uint32_t& latest = why_.latest[of];
  for (std::uint32_t n = is_trace ? 0 : latest; n != 0; n = why_.diagnostics[n - 1].before) {
    SnapshotDiagnostic& alike = why_.diagnostics[n - 1];
    if (!is_alike(alike, d, index)) {
      if (d.pid) break;  // those of one process come one after the other
      continue;
    }
    FieldSet& fields = alike.value.field;
    const FieldSet both = fields == 0 || d.field == 0 ? 0 : fields | d.field;
    if (both == fields) ++alike.count;
    fields = both;
    return;
  }
  SnapshotDiagnostic& added = why_.diagnostics.emplace_back(d, index);
  added.before = std::exchange(latest, static_cast<std::uint32_t>(why_.diagnostics.size()));
}

// Takes the texts of a process that has the same key and the same name as before. A process that is
// executing a program has no command line for a moment; that is not kept.
bool SnapshotBuilder::recall_texts(Usage& row) const {
  if (request_.texts == nullptr || !row.process_key || !row.container.empty()) return false;
  const auto rows = of_device(request_.texts->rows, row.device_index);
  const auto known = std::partition_point(rows.begin(), rows.end(),
                                          [&](const Usage& u) { return u.pid < row.pid; });
  if (known == rows.end() || known->process_key != row.process_key || known->name != row.name ||
      known->command.empty()) {
    return false;
  }
  row.command = known->command;
  row.container = known->container;
  return true;
}

void SnapshotBuilder::describe_processes() {
  KnownTexts* const known = request_.texts;
  const std::uint64_t now = platform::continuous_ns();
  if (known != nullptr && now - known->read_ns >= KnownTexts::longest_age_ns) {
    known->read_ns = now;
    known->rows.clear();
  }
  std::vector<Usage>& rows = out_->usages;
  const auto by_pid = sorted_positions(
      rows.size(), [&](std::uint32_t a, std::uint32_t b) { return rows[a].pid < rows[b].pid; });
  std::vector<Usage*> first;  // row of each process
  first.reserve(rows.size());
  for (const std::uint32_t position : by_pid) {
    Usage& row = rows[position];
    if ((row.notes & note::foreign_pid) != 0) continue;
    if (first.empty() || first.back()->pid != row.pid) first.push_back(&row);
  }
  from_.host_->describe_all(first, [&](Usage& row) { return recall_texts(row); });
  for (const Usage* const row : first) {
    if (row->name_state == NameState::protected_process) ++out_->unreadable_processes;
  }
  auto described = first.begin();
  for (const std::uint32_t position : by_pid) {
    Usage& row = rows[position];
    if ((row.notes & note::foreign_pid) != 0) continue;
    while ((*described)->pid != row.pid) ++described;
    if (*described == &row) continue;
    fill_identity(row, **described);
    fill_texts(row, **described);
  }
  if (known != nullptr) known->rows = rows;
}

void SnapshotBuilder::finish() {
  drop_what_was_found();
  note_what_is_partial();
  {
    const std::lock_guard lock(from_.table_mutex_);
    out_->device_generation = from_.table_.generation();
  }
  out_->duration_ns = platform::monotonic_ns() - out_->monotonic_ns;
  const std::uint64_t now = out_->ended_ns = platform::continuous_ns();
  end_reading(out_->pools, now);
  end_reading(out_->usages, now);
  end_reading(out_->metrics, now);
  end_reading(out_->groups, now);
  for (SnapshotDevice& d : out_->devices) {
    d.age_ns += now;
    end_reading(d.telemetry, now);
    end_reading(d.self, now);
  }
}

Result<std::unique_ptr<Snapshot>> Context::take(const SnapshotRequest& request) {
  return SnapshotBuilder(*this, request).build();
}

}  // namespace hmn
