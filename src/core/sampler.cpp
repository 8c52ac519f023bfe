// SPDX-License-Identifier: MIT OR Apache-2.0
#include "core/sampler.hpp"

#include <algorithm>
#include <new>
#include <utility>

#include "platform/mutex.hpp"
#include "platform/thread.hpp"

namespace hmn {
namespace {

constexpr std::uint64_t make_key(std::uint32_t device_index, std::uint32_t pid) noexcept {
  return std::uint64_t{device_index} << 32 | pid;
}

std::size_t find_position(const std::vector<Peak>& entries, std::uint64_t key) noexcept {
  std::size_t low = 0;
  std::size_t high = entries.size();
  while (low < high) {
    const std::size_t middle = low + (high - low) / 2;
    if (make_key(entries[middle].device_index, entries[middle].pid) < key) {
      low = middle + 1;
    } else {
      high = middle;
    }
  }
  return low;
}

bool has_key_at(const std::vector<Peak>& entries, std::size_t position,
                std::uint64_t key) noexcept {
  return position < entries.size() &&
         make_key(entries[position].device_index, entries[position].pid) == key;
}

bool raise(std::optional<std::uint64_t>& highest, const std::optional<std::uint64_t>& value) {
  if (!value || (highest && *highest >= *value)) return false;
  highest = value;
  return true;
}

// Returns whether the pid was reused. The start time decides where a key is absent, as of a process
// in another PID namespace.
bool is_another_process(const Peak& peak, const Usage& row) noexcept {
  if (peak.process_key && row.process_key) return *peak.process_key != *row.process_key;
  return peak.start_unix_ns && row.start_unix_ns && *peak.start_unix_ns != *row.start_unix_ns;
}

template <class T>
void raise_used(Peak& peak, const T& record, std::uint64_t now) {
  if (!raise(peak.used, record.used)) return;
  peak.source = record.source;
  peak.notes = record.notes;
  peak.accounting = record.accounting;
  peak.used_monotonic_ns = now;
}

}  // namespace

Peak& Peaks::find_or_add_peak(std::uint32_t device_index, std::uint32_t pid) {
  const std::uint64_t key = make_key(device_index, pid);
  const std::size_t position = find_position(entries_, key);
  if (has_key_at(entries_, position, key)) return entries_[position];
  Peak peak;
  peak.device_index = device_index;
  peak.pid = pid;
  return *entries_.insert(entries_.begin() + static_cast<std::ptrdiff_t>(position), peak);
}

const Peak* Peaks::find(std::uint32_t device_index, std::uint32_t pid) const noexcept {
  const std::uint64_t key = make_key(device_index, pid);
  const std::size_t position = find_position(entries_, key);
  return has_key_at(entries_, position, key) ? &entries_[position] : nullptr;
}

void Peaks::observe_pool(const Pool& pool, std::uint64_t now) {
  Peak& peak = find_or_add_peak(pool.device_index, 0);
  if (pool.is_main) raise_used(peak, pool, now);
  if (pool.kind == PoolKind::host && pool.instance == 0) raise(peak.host_pool, pool.used);
}

void Peaks::observe_usage(const Usage& row, std::uint64_t now) {
  if (row.pid == 0) return;
  Peak& peak = find_or_add_peak(row.device_index, row.pid);
  if (is_another_process(peak, row)) {
    peak = {};
    peak.device_index = row.device_index;
    peak.pid = row.pid;
  }
  if (row.process_key) peak.process_key = row.process_key;
  if (row.start_unix_ns) peak.start_unix_ns = row.start_unix_ns;
  peak.last_seen_monotonic_ns = now;
  raise_used(peak, row, now);
  raise(peak.host_pool, row.host_pool);
  raise(peak.host_resident, row.host_resident);
}

void Peaks::observe(const Snapshot& snapshot) {
  const std::uint64_t now = snapshot.monotonic_ns;
  for (const SnapshotDevice& device : snapshot.devices) {
    find_or_add_peak(device.identity->index, 0).last_seen_monotonic_ns = now;
    if (device.self) observe_usage(*device.self, now);
  }
  for (const Pool& pool : snapshot.pools) observe_pool(pool, now);
  for (const Usage& row : snapshot.usages) observe_usage(row, now);
  if (entries_.size() <= max_entries) return;
  std::erase_if(entries_, [&](const Peak& peak) {
    return peak.pid != 0 && peak.last_seen_monotonic_ns != now;
  });
}

namespace {

Failure make_state_failure(const char* message) {
  return make_failure(Status::state, message);
}

}  // namespace

struct Sampler::Core final : CancelListener {
  Core(std::shared_ptr<Context> source_context, const SamplerSettings& sampler_settings,
       const SnapshotRequest& request)
      : context(std::move(source_context)),
        settings(sampler_settings),
        base_request(request),
        snapshots(sampler_settings.peaks_only ? 1 : sampler_settings.capacity) {
    context->add_listener(*this);
  }
  Core(const Core&) = delete;
  Core& operator=(const Core&) = delete;
  ~Core() { context->remove_listener(*this); }

  // Wakes the callers of next(), which do not wait while the context is cancelled.
  void update_cancelled() noexcept override {
    const std::lock_guard lock(mutex);
    update_ready();
    changed.notify_all();
  }

  void run() noexcept {
    Schedule schedule(platform::monotonic_ns(), settings.interval_ns);
    const std::uint64_t process_interval_ns =
        std::max(settings.process_interval_ns, settings.interval_ns);
    NthSlotFilter process_filter(process_interval_ns / settings.interval_ns +
                                 (process_interval_ns % settings.interval_ns != 0));
    while (sleep_until(schedule.due_ns())) {
      SnapshotRequest slot_request = base_request;
      slot_request.texts = &texts;
      if (!process_filter.selects(schedule.slot())) {
        slot_request.postponed = slot_request.collect & subject::processes;
        slot_request.collect = (slot_request.collect & ~subject::processes) | subject::devices;
        slot_request.is_quick = true;
      }
      sample(slot_request);
      const std::uint64_t skip_count = schedule.advance(platform::monotonic_ns());
      const std::lock_guard lock(mutex);
      if (report.state == SamplerState::running) report.late_count += skip_count;
    }
  }

  // Sleeps until that time. Returns false at once when the sampler is stopped.
  bool sleep_until(std::uint64_t due_ns) noexcept {
    std::unique_lock lock(mutex);
    while (report.state == SamplerState::running) {
      if (!changed.wait_until(lock, due_ns)) return true;
    }
    return false;
  }

  void sample(const SnapshotRequest& request) noexcept {
    const std::uint64_t start_ns = platform::monotonic_ns();
    Status status = Status::no_memory;
    try {
      Result<std::unique_ptr<Snapshot>> snapshot = context->take(request);
      if (snapshot) return store_snapshot(std::move(*snapshot), start_ns);
      status = snapshot.failure().code;
    } catch (const std::bad_alloc&) {
    } catch (...) {
      status = Status::internal;
    }
    const std::lock_guard lock(mutex);
    if (report.state != SamplerState::running) return;
    ++report.failed_count;
    report.last_status = status;
    report.last_monotonic_ns = start_ns;
  }

  void store_snapshot(std::unique_ptr<Snapshot> snapshot, std::uint64_t start_ns) {
    shared_parts.share(*snapshot);
    std::unique_ptr<Snapshot> oldest;  // is freed without the lock
    const std::lock_guard lock(mutex);
    if (report.state != SamplerState::running) return;
    board.publish(*snapshot);
    peaks.observe(*snapshot);
    ++report.taken_count;
    report.last_status = Status::ok;
    report.last_monotonic_ns = start_ns;
    if (settings.peaks_only) return;
    oldest = snapshots.push(std::move(snapshot));
    if (oldest) ++report.dropped_count;
    update_ready();
    changed.notify_all();
  }

  // Makes the event ready exactly when next() would not wait. The caller holds the mutex.
  void update_ready() noexcept {
    ready.set(settings.peaks_only || snapshots.size() != 0 ||
              report.state != SamplerState::running || context->is_cancelled());
  }

  const std::shared_ptr<Context> context;
  const SamplerSettings settings;
  const SnapshotRequest base_request;
  ProcessTextCache texts;    // of run() alone
  SharedParts shared_parts;  // of run() alone
  LatestBoard board;
  platform::Condition changed;    // a snapshot has come, or the state has changed
  mutable platform::Mutex mutex;  // guards the members below
  SnapshotRing snapshots;
  Peaks peaks;
  SamplerReport report;
  platform::ReadyEvent ready;
};

Sampler::Sampler(std::shared_ptr<Context> context, const SamplerSettings& settings,
                 const SnapshotRequest& request)
    : core_(std::make_shared<Core>(std::move(context), settings, request)) {}

Sampler::~Sampler() {
  if (is_forked()) {
    // Leaks on purpose: its locks may be held by a thread that does not exist in the child.
    static_cast<void>(new (std::nothrow) std::shared_ptr<Core>(std::move(core_)));
    return;
  }
  const std::lock_guard lock(core_->mutex);
  core_->report.state = SamplerState::stopped;
  core_->ready.close();
  core_->changed.notify_all();
}

bool Sampler::is_forked() const noexcept {
  return core_->context->is_forked();
}

Result<void> Sampler::start() {
  if (!core_->context->may_start_threads()) {
    return make_failure(Status::unsupported,
                        "a sampler is a thread, and the context may not start threads");
  }
  const std::lock_guard lock(core_->mutex);
  if (core_->report.state != SamplerState::idle) {
    return make_state_failure("the sampler was started before: make a new one");
  }
  if (const int error = platform::start_detached(core_, "hmn-sampler"); error != 0) {
    return Failure{Status::limit,
                   Source::none,
                   {NativeDomain::error_number, error},
                   "no thread could be started for the sampler"};
  }
  core_->report.state = SamplerState::running;
  core_->update_ready();
  return {};
}

Result<void> Sampler::stop() {
  const std::lock_guard lock(core_->mutex);
  if (core_->report.state == SamplerState::idle) {
    return make_state_failure("the sampler was never started");
  }
  core_->report.state = SamplerState::stopped;
  core_->update_ready();
  core_->changed.notify_all();
  return {};
}

Result<std::unique_ptr<Snapshot>> Sampler::next(std::uint64_t timeout_ns) {
  if (core_->settings.peaks_only) {
    return make_state_failure("the sampler keeps peaks only, no snapshots");
  }
  const std::uint64_t deadline_ns = platform::add_duration(platform::monotonic_ns(), timeout_ns);
  std::unique_lock lock(core_->mutex);
  for (bool may_wait = timeout_ns != 0;; may_wait = core_->changed.wait_until(lock, deadline_ns)) {
    if (std::unique_ptr<Snapshot> oldest = core_->snapshots.pop()) {
      core_->update_ready();
      return oldest;
    }
    if (core_->report.state == SamplerState::idle) {
      return make_state_failure("the sampler was not started");
    }
    if (core_->report.state == SamplerState::stopped) {
      return make_state_failure("the sampler was stopped, and all its snapshots were read");
    }
    if (!may_wait)
      return with_reason(Reason::not_yet,
                         make_failure(Status::empty, "no snapshot has come within the timeout"));
    if (core_->context->is_cancelled()) return cancelled_failure();
  }
}

Result<std::int64_t> Sampler::handle() {
  const std::lock_guard lock(core_->mutex);
  if (!core_->ready.exists()) {
    if (const int error = core_->ready.create(); error != 0) {
      return Failure{Status::limit,
                     Source::none,
                     {NativeDomain::error_number, error},
                     "the system cannot create a handle to wait for"};
    }
    core_->update_ready();
  }
  return core_->ready.native();
}

SamplerReport Sampler::report() const {
  const std::lock_guard lock(core_->mutex);
  SamplerReport result = core_->report;
  result.pending = static_cast<std::uint32_t>(core_->snapshots.size());
  return result;
}

const LatestBoard& Sampler::latest() const noexcept {
  return core_->board;
}

bool Sampler::find_peak(std::uint32_t device_index, std::uint32_t pid,
                        std::optional<Peak>& out) const {
  const std::lock_guard lock(core_->mutex);
  if (core_->peaks.find(device_index, 0) == nullptr) return false;
  if (const Peak* peak = core_->peaks.find(device_index, pid)) out = *peak;
  return true;
}

}  // namespace hmn
