// SPDX-License-Identifier: MIT OR Apache-2.0
#include "core/sampler.hpp"

#include <algorithm>
#include <new>
#include <utility>

#include "platform/mutex.hpp"
#include "platform/thread.hpp"

namespace hmn {
namespace {

constexpr std::uint64_t key_of(std::uint32_t device_index, std::uint32_t pid) noexcept {
  return std::uint64_t{device_index} << 32 | pid;
}

std::size_t place_of(const std::vector<Peak>& entries, std::uint64_t key) noexcept {
  std::size_t low = 0;
  std::size_t high = entries.size();
  while (low < high) {
    const std::size_t middle = low + (high - low) / 2;
    if (key_of(entries[middle].device_index, entries[middle].pid) < key) {
      low = middle + 1;
    } else {
      high = middle;
    }
  }
  return low;
}

bool is_at(const std::vector<Peak>& entries, std::size_t place, std::uint64_t key) noexcept {
  return place < entries.size() && key_of(entries[place].device_index, entries[place].pid) == key;
}

bool raise(std::optional<std::uint64_t>& highest, const std::optional<std::uint64_t>& now) {
  if (!now || (highest && *highest >= *now)) return false;
  highest = now;
  return true;
}

// Returns whether the pid was reused. The start time decides where a key is absent, as of a process
// in another PID namespace.
bool is_another_process(const Peak& known, const Usage& row) noexcept {
  if (known.process_key && row.process_key) return *known.process_key != *row.process_key;
  return known.start_unix_ns && row.start_unix_ns && *known.start_unix_ns != *row.start_unix_ns;
}

template <class T>
void raise_used(Peak& to, const T& reading, std::uint64_t now) {
  if (!raise(to.used, reading.used)) return;
  to.from = reading.from;
  to.notes = reading.notes;
  to.accounting = reading.accounting;
  to.used_monotonic_ns = now;
}

}  // namespace

Peak& Peaks::entry_of(std::uint32_t device_index, std::uint32_t pid) {
  const std::uint64_t key = key_of(device_index, pid);
  const std::size_t place = place_of(entries_, key);
  if (is_at(entries_, place, key)) return entries_[place];
  Peak fresh;
  fresh.device_index = device_index;
  fresh.pid = pid;
  return *entries_.insert(entries_.begin() + static_cast<std::ptrdiff_t>(place), fresh);
}

const Peak* Peaks::find(std::uint32_t device_index, std::uint32_t pid) const noexcept {
  const std::uint64_t key = key_of(device_index, pid);
  const std::size_t place = place_of(entries_, key);
  return is_at(entries_, place, key) ? &entries_[place] : nullptr;
}

void Peaks::observe_pool(const Pool& p, std::uint64_t now) {
  Peak& to = entry_of(p.device_index, 0);
  if (p.is_main) raise_used(to, p, now);
  if (p.kind == PoolKind::host && p.instance == 0) raise(to.host_pool, p.used);
}

void Peaks::observe_usage(const Usage& row, std::uint64_t now) {
  if (row.pid == 0) return;
  Peak& to = entry_of(row.device_index, row.pid);
  if (is_another_process(to, row)) {
    to = {};
    to.device_index = row.device_index;
    to.pid = row.pid;
  }
  if (row.process_key) to.process_key = row.process_key;
  if (row.start_unix_ns) to.start_unix_ns = row.start_unix_ns;
  to.seen_monotonic_ns = now;
  raise_used(to, row, now);
  raise(to.host_pool, row.host_pool);
  raise(to.host_resident, row.host_resident);
}

void Peaks::observe(const Snapshot& from) {
  const std::uint64_t now = from.monotonic_ns;
  for (const SnapshotDevice& d : from.devices) {
    entry_of(d.identity->index, 0).seen_monotonic_ns = now;
    if (d.self) observe_usage(*d.self, now);
  }
  for (const Pool& p : from.pools) observe_pool(p, now);
  for (const Usage& u : from.usages) observe_usage(u, now);
  if (entries_.size() <= most) return;
  std::erase_if(entries_, [&](const Peak& p) { return p.pid != 0 && p.seen_monotonic_ns != now; });
}

namespace {

Failure at_wrong_moment(const char* message) {
  return failed(Status::state, message);
}

}  // namespace

struct Sampler::Core final : CancelListener {
  Core(std::shared_ptr<Context> c, const Sampling& h, const SnapshotRequest& w)
      : from(std::move(c)), how(h), what(w), kept(h.peaks_only ? 1 : h.capacity) {
    from->add_listener(*this);
  }
  Core(const Core&) = delete;
  Core& operator=(const Core&) = delete;
  ~Core() { from->remove_listener(*this); }

  // Wakes the callers of next(), which do not wait while the context is cancelled.
  void update_cancelled() noexcept override {
    const std::lock_guard lock(mutex);
    show_ready();
    changed.notify_all();
  }

  void run() noexcept {
    Schedule slots(platform::monotonic_ns(), how.interval_ns);
    const std::uint64_t between = std::max(how.process_interval_ns, how.interval_ns);
    EveryNth with_processes(between / how.interval_ns + (between % how.interval_ns != 0));
    while (runs_until(slots.due_ns())) {
      SnapshotRequest now = what;
      now.texts = &texts;
      if (!with_processes.takes(slots.slot())) {
        now.postponed = now.collect & subject::processes;
        now.collect = (now.collect & ~subject::processes) | subject::devices;
        now.quick = true;
      }
      sample(now);
      const std::uint64_t left_out = slots.advance(platform::monotonic_ns());
      const std::lock_guard lock(mutex);
      if (reported.state == SamplerState::running) reported.late += left_out;
    }
  }

  // Sleeps until that time. Returns false at once when the sampler is stopped.
  bool runs_until(std::uint64_t due_ns) noexcept {
    std::unique_lock lock(mutex);
    while (reported.state == SamplerState::running) {
      if (!changed.wait_until(lock, due_ns)) return true;
    }
    return false;
  }

  void sample(const SnapshotRequest& request) noexcept {
    const std::uint64_t begun = platform::monotonic_ns();
    Status why = Status::no_memory;
    try {
      Result<std::unique_ptr<Snapshot>> taken = from->take(request);
      if (taken) return keep(std::move(*taken), begun);
      why = taken.why().code;
    } catch (const std::bad_alloc&) {
    } catch (...) {
      why = Status::internal;
    }
    const std::lock_guard lock(mutex);
    if (reported.state != SamplerState::running) return;
    ++reported.failed;
    reported.last_status = why;
    reported.last_monotonic_ns = begun;
  }

  void keep(std::unique_ptr<Snapshot> fresh, std::uint64_t begun) {
    unchanged.share(*fresh);
    std::unique_ptr<Snapshot> dropped;  // is freed without the lock
    const std::lock_guard lock(mutex);
    if (reported.state != SamplerState::running) return;
    shown.publish(*fresh);
    highest.observe(*fresh);
    ++reported.taken;
    reported.last_status = Status::ok;
    reported.last_monotonic_ns = begun;
    if (how.peaks_only) return;
    dropped = kept.push(std::move(fresh));
    if (dropped) ++reported.dropped;
    show_ready();
    changed.notify_all();
  }

  // Makes the event ready exactly when next() would not wait. The caller holds the mutex.
  void show_ready() noexcept {
    ready.set(how.peaks_only || kept.size() != 0 || reported.state != SamplerState::running ||
              from->is_cancelled());
  }

  const std::shared_ptr<Context> from;
  const Sampling how;
  const SnapshotRequest what;
  KnownTexts texts;       // of run() alone
  SharedParts unchanged;  // likewise
  LatestBoard shown;
  platform::Condition changed;    // a snapshot has come, or the state has changed
  mutable platform::Mutex mutex;  // guards the members below
  SnapshotRing kept;
  Peaks highest;
  SamplerReport reported;
  platform::ReadyEvent ready;
};

Sampler::Sampler(std::shared_ptr<Context> from, const Sampling& how, const SnapshotRequest& what)
    : core_(std::make_shared<Core>(std::move(from), how, what)) {}

Sampler::~Sampler() {
  if (is_forked()) {
    // Leaks on purpose: its locks may be held by a thread that does not exist in the child.
    static_cast<void>(new (std::nothrow) std::shared_ptr<Core>(std::move(core_)));
    return;
  }
  const std::lock_guard lock(core_->mutex);
  core_->reported.state = SamplerState::stopped;
  core_->ready.close();
  core_->changed.notify_all();
}

bool Sampler::is_forked() const noexcept {
  return core_->from->is_forked();
}

Result<void> Sampler::start() {
  if (!core_->from->may_start_threads()) {
    return failed(Status::unsupported,
                  "a sampler is a thread, and the context may not start threads");
  }
  const std::lock_guard lock(core_->mutex);
  if (core_->reported.state != SamplerState::idle) {
    return at_wrong_moment("the sampler was started before: make a new one");
  }
  if (const int error = platform::start_detached(core_, "hmn-sampler"); error != 0) {
    return Failure{Status::limit,
                   Source::none,
                   {NativeDomain::error_number, error},
                   "no thread could be started to sample on"};
  }
  core_->reported.state = SamplerState::running;
  core_->show_ready();
  return {};
}

Result<void> Sampler::stop() {
  const std::lock_guard lock(core_->mutex);
  if (core_->reported.state == SamplerState::idle) {
    return at_wrong_moment("the sampler was never started");
  }
  core_->reported.state = SamplerState::stopped;
  core_->show_ready();
  core_->changed.notify_all();
  return {};
}

Result<std::unique_ptr<Snapshot>> Sampler::next(std::uint64_t timeout_ns) {
  if (core_->how.peaks_only) {
    return at_wrong_moment("the sampler keeps peaks only, no snapshots");
  }
  const std::uint64_t until = platform::later(platform::monotonic_ns(), timeout_ns);
  std::unique_lock lock(core_->mutex);
  for (bool may_wait = timeout_ns != 0;; may_wait = core_->changed.wait_until(lock, until)) {
    if (std::unique_ptr<Snapshot> oldest = core_->kept.pop()) {
      core_->show_ready();
      return oldest;
    }
    if (core_->reported.state == SamplerState::idle) {
      return at_wrong_moment("the sampler was not started");
    }
    if (core_->reported.state == SamplerState::stopped) {
      return at_wrong_moment("the sampler was stopped, and all that it took was pulled");
    }
    if (!may_wait)
      return with_reason(Reason::not_yet,
                         failed(Status::empty, "no snapshot has come within the timeout"));
    if (core_->from->is_cancelled()) return why_cancelled();
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
    core_->show_ready();
  }
  return core_->ready.native();
}

SamplerReport Sampler::report() const {
  const std::lock_guard lock(core_->mutex);
  SamplerReport out = core_->reported;
  out.pending = static_cast<std::uint32_t>(core_->kept.size());
  return out;
}

const LatestBoard& Sampler::latest() const noexcept {
  return core_->shown;
}

bool Sampler::find_peak(std::uint32_t device_index, std::uint32_t pid,
                        std::optional<Peak>& out) const {
  const std::lock_guard lock(core_->mutex);
  if (core_->highest.find(device_index, 0) == nullptr) return false;
  if (const Peak* found = core_->highest.find(device_index, pid)) out = *found;
  return true;
}

}  // namespace hmn
