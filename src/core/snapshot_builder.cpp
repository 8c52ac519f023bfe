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

Failure make_unknown_failure(const Pool& pool, const char* message) {
  return {Status::unsupported, pool.source, {}, message, Reason::ambiguous};
}

Failure shared_memory_failure(const Pool& pool, const UsageSum& sum) {
  return {Status::unsupported,
          pool.source,
          {},
          {"processes share memory: ", *pool.used - std::min(*pool.used, sum.upper_bound()), " to ",
           *pool.used - sum.lower_bound(), " bytes are used by none that can be seen"},
          Reason::ambiguous};
}

// Adds a row's usage of the pool. The pool of a unified device counts host RAM as used, too.
// Returns false if that part is not known.
bool add_usage(const Usage& row, MemoryKind memory_kind, PoolKind kind, UsageSum& sum) {
  const bool is_exclusive = row.accounting == Accounting::allocated;
  if (kind == PoolKind::host) {
    if (row.clients) sum.add(row.clients->host_pool);
    if (!row.clients && row.host_pool) sum.add(*row.host_pool, row.shared, is_exclusive);
    return row.host_pool.has_value();
  }
  if (memory_kind == MemoryKind::unified && kind == PoolKind::vram) {
    const bool is_bounded =
        row.clients && (!row.clients->used.is_exact() || !row.clients->host_pool.is_exact());
    if (row.host_pool)
      sum.add(*row.used - std::min(*row.used, *row.host_pool), row.shared, is_exclusive);
    return row.host_pool && !is_bounded;
  }
  if (row.clients) {
    sum.add(row.clients->used);
  } else {
    sum.add(*row.used, row.shared, is_exclusive);
  }
  return true;
}

std::optional<Failure> attribute(std::span<const Usage> rows, MemoryKind memory_kind, Pool& pool) {
  UsageSum sum;
  bool uses_same_accounting = true;
  for (const Usage& row : rows) {
    // Committed memory is not used memory.
    uses_same_accounting = uses_same_accounting && row.accounting != Accounting::committed;
    if (!add_usage(row, memory_kind, pool.kind, sum)) {
      return make_unknown_failure(pool,
                                  "the memory of processes is reported for all pools together");
    }
  }
  if (!uses_same_accounting || sum.lower_bound() > *pool.used ||
      (sum.is_exact() && sum.upper_bound() > *pool.used)) {
    return make_unknown_failure(
        pool, "the memory of processes is counted differently from that of the device");
  }
  if (!sum.is_exact()) return shared_memory_failure(pool, sum);
  pool.unattributed = *pool.used - sum.upper_bound();
  return std::nullopt;
}

// Sets the memory of the device's main pool that is used but owned by no visible process. Returns
// the reason if that is unknown. Skips a partitioned GPU, whose processes are listed under its
// partitions, and one without a process list, which has a reason of its own.
std::optional<Failure> attribute_pools(MergedDevice& device) {
  if ((device.complete_subjects & subject::processes) == 0 || is_divided(device.identity))
    return std::nullopt;
  for (Pool& pool : device.pools.all()) {
    if (!pool.is_main || !pool.used) continue;
    if (!device.can_be_summed)
      return make_unknown_failure(pool, "the memory of some processes is not known");
    if ((pool.notes & (note::lower_bound | note::estimated)) != 0) {
      return make_unknown_failure(pool,
                                  "used memory is known only as a lower bound or an estimate");
    }
    return attribute(device.processes, device.identity.memory_kind, pool);
  }
  return std::nullopt;
}

constexpr std::uint32_t device_subjects = subject::all & ~(subject::memory | subject::system);

std::size_t find_list_position(std::optional<std::uint32_t> index) {
  return index ? std::size_t{*index} + 1 : 0;
}

// Returns whether both come from one call, whatever their fields. A metric has no bit of its own.
bool is_same_failure(const Failure& left, const Failure& right) {
  return left.code == right.code && left.source == right.source &&
         left.native.code == right.native.code && left.native.domain == right.native.domain &&
         left.message == right.message;
}

bool is_same_diagnostic(const SnapshotDiagnostic& entry, const Diagnostic& diagnostic,
                        std::optional<std::uint32_t> index) {
  return entry.value.subject == diagnostic.subject && entry.value.pool == diagnostic.pool &&
         (entry.value.field == diagnostic.field || diagnostic.subject != subject::metrics) &&
         entry.device_index == index && entry.value.pid == diagnostic.pid &&
         is_same_failure(entry.value.failure, diagnostic.failure);
}

// Returns whether the reading reached the device: none is reached after a call that hangs. Slow
// metrics may take longer than the deadline.
bool was_reached(const DeviceCache& device, Plan plan, const Freshness& freshness) {
  plan.metrics = plan.metrics && !plan.includes_slow;
  const bool reads_values = plan.pools || plan.self || plan.processes || plan.telemetry != 0 ||
                            plan.metrics || plan.includes_slow;
  return is_answered(device, plan, freshness.since_ns) && (!freshness.is_late || reads_values);
}

}  // namespace

class SnapshotBuilder {
 public:
  SnapshotBuilder(Context& context, const SnapshotRequest& request);

  [[nodiscard]] Result<std::unique_ptr<Snapshot>> build();

 private:
  [[nodiscard]] bool wants(std::uint32_t subjects) const noexcept {
    return (snapshot_->collect & subjects) != 0;
  }
  void add_host();
  Result<void> add_devices();
  void add_source(Worker& worker, const SourceCache& cache, const Freshness& freshness);
  void add_device(Worker& worker, const DeviceCache& answer, const Freshness& freshness);
  void add_if_unanswered(const Diagnostic& diagnostic, std::optional<std::uint32_t> index);
  [[nodiscard]] MergedDevice* find(std::uint32_t index) noexcept;
  MergedDevice& add(const Device& identity);
  void add_known_devices();
  void add_refusals(const std::vector<Context::Refusal>& refusals);
  void add_missing_subjects();
  void add_groups();
  void explain_unusable(const MergedDevice& device);
  void build_lists();
  void add_diagnostic(const Diagnostic& diagnostic, std::optional<std::uint32_t> index);
  void drop_resolved_diagnostics();
  void mark_partial();
  void describe_processes();
  [[nodiscard]] bool reuse_texts(Usage& row) const;
  void finish();

  Context& context_;
  SnapshotRequest request_;
  Plan plan_;
  std::unique_ptr<Snapshot> snapshot_;
  Explanations& explanations_;  // of snapshot_
  std::vector<MergedDevice> devices_;
  std::vector<std::uint32_t> positions_;  // [index]: of the device in devices_, from 1; 0: none
};

SnapshotBuilder::SnapshotBuilder(Context& context, const SnapshotRequest& request)
    : context_(context),
      request_(request),
      plan_(context.make_plan()),
      snapshot_(std::make_unique<Snapshot>()),
      explanations_(snapshot_->explanations.edit()) {
  snapshot_->collect = request.collect;
  snapshot_->postponed = request.postponed;
  if (wants(device_subjects)) snapshot_->collect |= subject::devices;
  plan_.list = wants(device_subjects);
  plan_.pools = wants(subject::pools);
  plan_.self = wants(subject::self);
  plan_.processes = wants(subject::processes);
  plan_.telemetry = wants(subject::telemetry) ? telemetry_field::all : 0;
  plan_.metrics = wants(subject::metrics);
  plan_.includes_slow = request.includes_slow;
  plan_.is_quick = request.is_quick;
  plan_.wants_trace = context.settings_.trace;
}

Result<std::unique_ptr<Snapshot>> SnapshotBuilder::build() {
  snapshot_->unix_time_ns = platform::unix_ns();
  snapshot_->monotonic_ns = platform::monotonic_ns();
  context_.start();
  add_host();
  if (wants(device_subjects)) {
    if (Result<void> ok = add_devices(); !ok) return ok.failure();
  }
  finish();
  return std::move(snapshot_);
}

void SnapshotBuilder::add_host() {
  if (wants(subject::memory)) {
    ProcessMemory memory;
    memory.pid = context_.own_pid_;
    if (Result<void> ok = context_.host_->own_memory(process_memory_field::cheap, memory)) {
      snapshot_->memory = memory;
    } else {
      add_diagnostic({ok.failure(), 0, subject::memory, 0, {}, {}, {}}, {});
    }
  }
  if (!wants(subject::system)) return;
  const auto report_dropped = [&](FieldSet field, const Failure& failure) {
    add_diagnostic({failure, 0, subject::system, field, {}, {}, {}}, {});
  };
  SystemMemory system;
  if (Result<void> ok = read_system(*context_.host_, system, report_dropped)) {
    snapshot_->system = system;
  } else {
    add_diagnostic({ok.failure(), 0, subject::system, 0, {}, {}, {}}, {});
  }
}

Result<void> SnapshotBuilder::add_devices() {
  Deadline deadline = context_.make_deadline(request_.deadline_ns, snapshot_->monotonic_ns);
  if (request_.device_index) {
    if (Result<void> ok = context_.ensure_listed(*request_.device_index, deadline); !ok) return ok;
  }
  const auto refusals = context_.query_sources(
      plan_, request_.device_index, deadline,
      [this](Worker& worker, const SourceCache& cache, const Freshness& freshness) {
        add_source(worker, cache, freshness);
        return true;
      });
  if (!refusals) return refusals.failure();
  const auto outcome = context_.complete_from_nvidia_smi(
      devices_, plan_, deadline, [this](const SourceCache& cache) {
        for (const Diagnostic& diagnostic : cache.diagnostics) {
          if ((diagnostic.notes & note::trace) != 0) add_diagnostic(diagnostic, {});
        }
      });
  if (!outcome) return outcome;
  if (!request_.device_index) context_.store_refusals(*refusals);
  add_missing_subjects();
  add_known_devices();
  add_refusals(*refusals);
  if (wants(subject::groups)) add_groups();
  build_lists();
  if (plan_.processes && !request_.skips_host_details) describe_processes();
  return {};
}

void SnapshotBuilder::add_source(Worker& worker, const SourceCache& cache,
                                 const Freshness& freshness) {
  if (!freshness.is_late) {
    explanations_.diagnostics.reserve(explanations_.diagnostics.size() + cache.diagnostics.size());
    std::optional<Slot> slot;  // that `index` belongs to
    std::optional<std::uint32_t> index;
    for (const Diagnostic& diagnostic : cache.diagnostics) {
      if (diagnostic.device != slot) {
        slot = diagnostic.device;
        const std::lock_guard lock(context_.table_mutex_);
        index = slot ? context_.table_.find_index(worker.id(), *slot) : std::nullopt;
      }
      add_if_unanswered(diagnostic, index);
    }
  }
  if (!request_.device_index) devices_.reserve(cache.devices.size());
  for (const DeviceCache& device : cache.devices) {
    if (device.is_listed) add_device(worker, device, freshness);
  }
}

// Adds a diagnostic unless a preferred source has answered for the device.
void SnapshotBuilder::add_if_unanswered(const Diagnostic& diagnostic,
                                        std::optional<std::uint32_t> index) {
  if (diagnostic.device && request_.device_index && index != request_.device_index) return;
  if (plan_.processes) snapshot_->unreadable_processes += diagnostic.unreadable_processes;
  const MergedDevice* const device = index ? find(*index) : nullptr;
  const bool is_trace = (diagnostic.notes & note::trace) != 0;
  if (device != nullptr && !is_trace && (device->complete_subjects & diagnostic.subject) != 0)
    return;
  add_diagnostic(diagnostic, index);
}

MergedDevice* SnapshotBuilder::find(std::uint32_t index) noexcept {
  return index < positions_.size() && positions_[index] != 0 ? &devices_[positions_[index] - 1]
                                                             : nullptr;
}

MergedDevice& SnapshotBuilder::add(const Device& identity) {
  MergedDevice& device = devices_.emplace_back(identity);
  if (positions_.size() <= identity.index) positions_.resize(identity.index + 1);
  positions_[identity.index] = static_cast<std::uint32_t>(devices_.size());
  return device;
}

void SnapshotBuilder::add_device(Worker& worker, const DeviceCache& answer,
                                 const Freshness& freshness) {
  MergedDevice* device = nullptr;
  bool is_hung = false;
  {
    const std::lock_guard lock(context_.table_mutex_);
    const auto index = context_.table_.find_index(worker.id(), answer.identity.slot);
    if (!index || (request_.device_index && index != request_.device_index)) return;
    const Device& identity = context_.table_.at(*index);
    device = find(*index);
    if (device != nullptr) {
      is_hung = device->identity.state == State::hung;
      device->identity = identity;
    } else {
      device = &add(identity);
    }
  }
  const bool is_first = device->complete_subjects == 0;
  if ((is_first && !was_reached(answer, plan_, freshness)) || is_hung)
    device->identity.state = State::hung;
  merge(*device, answer, plan_, freshness, context_.limits_);
  device->complete_subjects |= subject::devices;
}

// Adds the devices for which no source answered, as they were last known.
void SnapshotBuilder::add_known_devices() {
  const std::lock_guard lock(context_.table_mutex_);
  for (std::uint32_t i = 0; i < context_.table_.count(); ++i) {
    if (request_.device_index && i != *request_.device_index) continue;
    if (find(i) != nullptr) continue;
    const Device& identity = devices_.emplace_back(context_.table_.at(i)).identity;
    // A missing partition was removed from its GPU.
    const bool is_missed = identity.state == State::lost && !identity.parent_index;
    if (is_missed) add_diagnostic({state_failure(identity), 0, subject::devices, 0, {}, {}, {}}, i);
  }
}

void SnapshotBuilder::add_refusals(const std::vector<Context::Refusal>& refusals) {
  const bool has_no_devices = devices_.empty();
  for (const Context::Refusal& refusal : refusals) {
    // Report an absent source only if nothing else was found.
    if (refusal.is_conclusive && !has_no_devices) continue;
    // One line per fault: its devices may have reported it already.
    const bool is_known =
        std::ranges::any_of(explanations_.diagnostics, [&](const SnapshotDiagnostic& entry) {
          return entry.device_index && is_same_failure(entry.value.failure, refusal.failure);
        });
    if (is_known) continue;
    Diagnostic diagnostic{refusal.failure, 0, subject::devices, 0, {}, {}, {}};
    if (refusal.is_conclusive) diagnostic.failure.code = Status::no_device;
    add_diagnostic(diagnostic, {});
  }
}

// Adds the reasons for subjects that no source could serve.
void SnapshotBuilder::add_missing_subjects() {
  for (MergedDevice& device : devices_) {
    drop_served_failures(device);
    for (std::uint32_t n = 0; n < device.failures.size(); ++n) {
      if (!device.failures[n]) continue;
      if (1U << n == subject::processes) device.can_be_summed = false;
      add_diagnostic({*device.failures[n], 0, 1U << n, 0, {}, {}, {}}, device.identity.index);
    }
  }
}

// Adds the memory held by control groups; partitions are counted with their card.
void SnapshotBuilder::add_groups() {
  if (devices_.empty()) return;
  GroupMemory groups;
  if (Result<void> ok = context_.host_->groups(groups); !ok) {
    add_diagnostic({ok.failure(), 0, subject::groups, 0, {}, {}, {}}, {});
  }
  const std::uint64_t age_ns = age_at_zero(platform::continuous_ns());
  std::ranges::stable_sort(
      groups.parts,
      [](const GroupMemory::Part& a, const GroupMemory::Part& b) { return a.device < b.device; });
  for (const MergedDevice& device : devices_) {
    const Device& card = device.identity;
    const auto address = parse_pci_address(card.pci_bus_id.view());
    if (!address || card.parent_index || card.state == State::lost) continue;
    auto part = std::ranges::lower_bound(groups.parts, *address, {}, &GroupMemory::Part::device);
    for (; part != groups.parts.end() && part->device == *address; ++part) {
      snapshot_->groups.push_back({card.index, groups.names[part->group], groups.source, 0,
                                   part->used, part->limit, age_ns});
    }
  }
}

// Adds the reason why nothing can be allocated on a divided device.
void SnapshotBuilder::explain_unusable(const MergedDevice& device) {
  const Pool* const main = device.pools.find(PoolKind::main);
  if (!is_divided(device.identity) || main == nullptr || is_stale(main->notes)) return;
  add_diagnostic(
      {unusable_failure(*main, device.identity), 0, subject::pools, pool_field::usable, {}, {}, {}},
      device.identity.index);
}

// Moves the merged values into the snapshot's lists.
void SnapshotBuilder::build_lists() {
  std::ranges::stable_sort(devices_, [](const MergedDevice& a, const MergedDevice& b) {
    return a.identity.index < b.identity.index;
  });
  if (!devices_.empty()) positions_.resize(devices_.back().identity.index + 1);
  for (std::uint32_t position = 0; position < devices_.size(); ++position)
    positions_[devices_[position].identity.index] = position + 1;
  const bool needs_attribution = plan_.processes && plan_.pools && !request_.pid;
  for (MergedDevice& device : devices_) {
    context_.set_usable(device);
    explain_unusable(device);
    if (!needs_attribution) continue;
    std::optional<Failure> failure = attribute_pools(device);
    if (!failure) continue;
    add_diagnostic({*failure, 0, subject::pools, pool_field::unattributed, {}, {}, {}},
                   device.identity.index);
  }
  std::size_t rows = 0;
  for (const MergedDevice& device : devices_) rows += device.processes.size();
  snapshot_->usages.reserve(rows);
  snapshot_->devices.reserve(devices_.size());
  for (MergedDevice& device : devices_) {
    for (const Pool& pool : device.pools.all()) {
      if (pool.is_main) snapshot_->pools.push_back(pool);
    }
    for (const Pool& pool : device.pools.all()) {
      if (!pool.is_main && pool.instance == 0) snapshot_->pools.push_back(pool);
    }
    for (const Pool& pool : device.pools.all()) {
      if (request_.includes_parts && pool.instance != 0) snapshot_->pools.push_back(pool);
    }
    std::ranges::stable_sort(device.processes,
                             [](const Usage& a, const Usage& b) { return a.pid < b.pid; });
    for (Usage& row : device.processes) {
      if (!request_.pid || row.pid == *request_.pid) snapshot_->usages.push_back(std::move(row));
    }
    snapshot_->metrics.insert(snapshot_->metrics.end(), device.metrics.begin(),
                              device.metrics.end());
    snapshot_->devices.emplace_back(device.identity, std::move(device.telemetry),
                                    std::move(device.self));
  }
}

// Drops diagnostics about fields that another source has provided.
void SnapshotBuilder::drop_resolved_diagnostics() {
  const auto is_resolved = [this](SnapshotDiagnostic& entry) {
    if (entry.value.field == 0 || !entry.device_index) return false;
    MergedDevice* const device = find(*entry.device_index);
    const SnapshotDevice* const listed_device = snapshot_->find_device(*entry.device_index);
    if (device == nullptr || listed_device == nullptr || entry.value.subject == subject::metrics)
      return false;
    const std::uint32_t subject = entry.value.subject;
    FieldSet known_fields = 0;
    if (subject == subject::devices)
      known_fields = present_bits(*listed_device->identity, entry.value.field);
    if (subject == subject::telemetry && listed_device->telemetry) {
      known_fields = present_bits(*listed_device->telemetry, entry.value.field);
    }
    if ((device->fallback_subjects & subject & (subject::self | subject::processes)) != 0) {
      known_fields = usage_field::used | usage_field::allocated;
    }
    const PoolKey key = entry.value.pool.value_or(PoolKey{});
    const Pool* const pool = device->pools.find(key.kind, key.instance);
    if ((device->fallback_subjects & subject & subject::pools) != 0 && pool != nullptr) {
      known_fields = present_bits(*pool, entry.value.field);
    }
    entry.value.field &= ~known_fields;
    return entry.value.field == 0;
  };
  if (std::erase_if(explanations_.diagnostics, is_resolved) == 0) return;
  std::ranges::fill(explanations_.latest, 0);
  std::uint32_t position = 0;
  for (SnapshotDiagnostic& entry : explanations_.diagnostics) {
    entry.previous =
        std::exchange(explanations_.latest[find_list_position(entry.device_index)], ++position);
  }
}

void SnapshotBuilder::mark_partial() {
  for (const SnapshotDiagnostic& entry : explanations_.diagnostics) {
    const Status code = entry.value.failure.code;
    const bool is_problem =
        code != Status::ok && code != Status::unsupported && code != Status::no_device;
    if (!is_problem || (entry.value.notes & note::trace) != 0) continue;
    snapshot_->notes |= note::partial;
    const bool is_about_list = entry.value.subject == subject::devices && entry.value.field == 0;
    // A driver that is absent has no device.
    const bool may_hide = code != Status::asleep && code != Status::no_source;
    if (is_about_list && may_hide) snapshot_->notes |= note::lower_bound;
  }
}

void SnapshotBuilder::add_diagnostic(const Diagnostic& diagnostic,
                                     std::optional<std::uint32_t> index) {
  const bool is_trace = (diagnostic.notes & note::trace) != 0;
  const std::size_t list = find_list_position(index);
  if (explanations_.latest.size() <= list) explanations_.latest.resize(list + 1);
  std::uint32_t& latest = explanations_.latest[list];
  for (std::uint32_t n = is_trace ? 0 : latest; n != 0;
       n = explanations_.diagnostics[n - 1].previous) {
    SnapshotDiagnostic& entry = explanations_.diagnostics[n - 1];
    if (!is_same_diagnostic(entry, diagnostic, index)) {
      if (diagnostic.pid) break;  // entries of one process follow each other
      continue;
    }
    FieldSet& fields = entry.value.field;
    const FieldSet merged_fields =
        fields == 0 || diagnostic.field == 0 ? 0 : fields | diagnostic.field;
    if (merged_fields == fields) ++entry.count;
    fields = merged_fields;
    return;
  }
  SnapshotDiagnostic& entry = explanations_.diagnostics.emplace_back(diagnostic, index);
  entry.previous =
      std::exchange(latest, static_cast<std::uint32_t>(explanations_.diagnostics.size()));
}

// Copies the cached texts of a process with the same key and name. A process that is executing a
// program has no command line for a moment; that is not cached.
bool SnapshotBuilder::reuse_texts(Usage& row) const {
  if (request_.texts == nullptr || !row.process_key || !row.container.empty()) return false;
  const auto rows = select_device(request_.texts->rows, row.device_index);
  const auto it = std::partition_point(
      rows.begin(), rows.end(), [&](const Usage& cached_row) { return cached_row.pid < row.pid; });
  if (it == rows.end() || it->process_key != row.process_key || it->name != row.name ||
      it->command.empty()) {
    return false;
  }
  row.command = it->command;
  row.container = it->container;
  return true;
}

void SnapshotBuilder::describe_processes() {
  ProcessTextCache* const cache = request_.texts;
  const std::uint64_t now = platform::continuous_ns();
  if (cache != nullptr && now - cache->read_ns >= ProcessTextCache::max_age_ns) {
    cache->read_ns = now;
    cache->rows.clear();
  }
  std::vector<Usage>& rows = snapshot_->usages;
  const auto order = sort_positions(
      rows.size(), [&](std::uint32_t a, std::uint32_t b) { return rows[a].pid < rows[b].pid; });
  std::vector<Usage*> first_rows;  // the first row of each process
  first_rows.reserve(rows.size());
  for (const std::uint32_t position : order) {
    Usage& row = rows[position];
    if ((row.notes & note::foreign_pid) != 0) continue;
    if (first_rows.empty() || first_rows.back()->pid != row.pid) first_rows.push_back(&row);
  }
  context_.host_->describe_all(first_rows, [&](Usage& row) { return reuse_texts(row); });
  for (const Usage* const row : first_rows) {
    if (row->name_state == NameState::protected_process) ++snapshot_->unreadable_processes;
  }
  auto it = first_rows.begin();
  for (const std::uint32_t position : order) {
    Usage& row = rows[position];
    if ((row.notes & note::foreign_pid) != 0) continue;
    while ((*it)->pid != row.pid) ++it;
    if (*it == &row) continue;
    fill_identity(row, **it);
    fill_texts(row, **it);
  }
  if (cache != nullptr) cache->rows = rows;
}

void SnapshotBuilder::finish() {
  drop_resolved_diagnostics();
  mark_partial();
  {
    const std::lock_guard lock(context_.table_mutex_);
    snapshot_->device_generation = context_.table_.generation();
  }
  snapshot_->duration_ns = platform::monotonic_ns() - snapshot_->monotonic_ns;
  const std::uint64_t now = snapshot_->end_ns = platform::continuous_ns();
  complete_ages(snapshot_->pools, now);
  complete_ages(snapshot_->usages, now);
  complete_ages(snapshot_->metrics, now);
  complete_ages(snapshot_->groups, now);
  for (SnapshotDevice& device : snapshot_->devices) {
    device.age_ns += now;
    complete_ages(device.telemetry, now);
    complete_ages(device.self, now);
  }
}

Result<std::unique_ptr<Snapshot>> Context::take(const SnapshotRequest& request) {
  return SnapshotBuilder(*this, request).build();
}

}  // namespace hmn
