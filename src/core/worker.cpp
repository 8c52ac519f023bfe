// SPDX-License-Identifier: MIT OR Apache-2.0
#include "core/worker.hpp"

#include <algorithm>
#include <new>
#include <optional>
#include <utility>

#include "core/query.hpp"
#include "core/usable.hpp"
#include "platform/thread.hpp"

namespace hmn {
namespace {

using platform::add_duration;
using platform::continuous_ns;
using platform::monotonic_ns;

// Interval of searches for a driver or a first card that appears later. A search costs more than
// reading the host's memory.
constexpr std::uint64_t recheck_ns = platform::ns_per_second;

// A reading waits for a device that was set aside, after it has read the others, for its patience
// times this factor.
constexpr std::uint64_t last_chance_factor = 4;
// Each costs a thread; no server has more than 16 GPUs.
constexpr std::size_t max_hung_threads = 15;

// Passes an answer, and returns the outcome of its reading. A source that noticed itself that its
// deadline had passed is as late as one that no caller waited for any longer.
Result<void> publish(const SourceCache& cache, std::uint64_t since_ns, Worker::Visitor visit) {
  const std::optional<Failure>& failure = cache.refusal;
  visit(cache, {since_ns, failure && is_late(*failure)});
  return failure ? Result<void>(*failure) : Result<void>();
}

}  // namespace

// State shared by the callers and the threads of a source. Answers are stored while a reading
// proceeds, so that those from before a device hung are not lost.
struct Worker::SharedState {
  platform::Mutex mutex;  // taken before that of the context's device table, never after it
  platform::Condition work_ready;  // for threads: there is a request
  // For callers: a reading has ended, or the next in the queue may start.
  platform::Condition changed;
  SourceCache cache;
  std::optional<Plan> last_plan;        // that all of `cache` is from
  const WorkerThread* newest_thread{};  // of several threads only this one stores answers
};

// A source, and the thread that queries it. Members that both the thread and callers use are
// guarded by the shared state's mutex; the others belong to the thread while it is busy, else to
// the first caller in the queue.
class Worker::WorkerThread final : public Reading {
 public:
  WorkerThread(std::unique_ptr<DeviceSource> device_source, std::shared_ptr<HostSource> host_source,
               std::shared_ptr<SharedState> shared_state, std::uint64_t close_ns,
               const std::atomic<bool>* is_cancelled)
      : source(std::move(device_source)),
        host(std::move(host_source)),
        shared_state_(std::move(shared_state)),
        idle_close_ns_(close_ns),
        cancel_flag_(is_cancelled) {}
  ~WorkerThread() override { source->close(); }

  // The source compares it with the time between its calls of the driver.
  [[nodiscard]] std::uint64_t deadline_ns() const noexcept override {
    if (cancel_flag_ != nullptr && *cancel_flag_) is_cut_short = true;
    return is_cut_short ? 0 : end_ns;
  }
  [[nodiscard]] bool wants_trace() const noexcept override { return request.wants_trace; }
  [[nodiscard]] bool is_quick() const noexcept override { return request.is_quick; }
  [[nodiscard]] std::uint64_t max_age_ns() const noexcept override {
    return was_cut_short ? 0 : request.max_age_ns;
  }
  [[nodiscard]] std::optional<std::uint64_t> host_total() const override {
    return read_total(*host);
  }
  void diagnose(const Diagnostic& d) override { answer.diagnostics.push_back(d); }
  bool begin_device_call(std::uint32_t index, std::size_t count) noexcept override {
    const Lock lock(shared_state_->mutex);
    if (should_quit || std::ranges::find(hung_devices, index) != hung_devices.end()) return false;
    current_device = index;
    record_progress();
    can_be_set_aside = count > hung_devices.size() + 1;
    return true;
  }
  void end_device_call() noexcept override {
    const Lock lock(shared_state_->mutex);
    record_progress();
  }
  void visit_known_devices(DeviceVisitor visit) const override {
    for (const DeviceCache& device : answer.devices) visit(device.identity, device.is_listed);
  }
  void correct_state(Slot slot, hmn::State state) override {
    answer.find_or_add_device(slot).identity.state = state;
  }
  [[nodiscard]] const std::atomic<bool>* cancel_flag() const noexcept override {
    return cancel_flag_;
  }
  void mark_cut_short() noexcept override { is_cut_short = true; }
  void begin_opening() noexcept override {
    const Lock lock(shared_state_->mutex);
    opening_start_ns = monotonic_ns();
  }
  void end_opening() noexcept override {
    const Lock lock(shared_state_->mutex);
    record_progress();
    const std::uint64_t duration_ns = progress_ns - std::exchange(opening_start_ns, 0);
    total_opening_ns += duration_ns;
    end_ns = add_duration(end_ns, duration_ns);
  }

  void carry_out() {
    answer.diagnostics.clear();
    closes_when_idle = query(*source, request, answer, *this, [this](DeviceCache* device) {
      end_device_call();
      if (is_cut_short) {
        if (device != nullptr) device->forget_reading();
        return;
      }
      const Lock lock(shared_state_->mutex);
      if (shared_state_->newest_thread != this) return;
      shared_state_->last_plan.reset();
      if (device == nullptr) return shared_state_->cache.update_list(answer);
      shared_state_->cache.update_device(*device);
    });
    const Lock lock(shared_state_->mutex);
    if (shared_state_->newest_thread != this) return;
    if (is_cut_short) return shared_state_->last_plan.reset();
    shared_state_->cache.finish(answer);
    shared_state_->last_plan = request;
  }

  void run() {
    Lock lock(shared_state_->mutex);
    while (wait_for_work(lock)) {
      lock.unlock();
      carry_out();
      lock.lock();
      is_busy = false;
      shared_state_->changed.notify_all();
    }
    lock.unlock();
    source->close();
  }

  // The caller holds the mutex, as for the next two functions.
  void record_progress() noexcept {
    can_be_set_aside = false;
    progress_ns = monotonic_ns();
  }
  [[nodiscard]] bool is_opening() const noexcept { return opening_start_ns != 0; }
  // Returns the time that openings have taken within this reading.
  [[nodiscard]] std::uint64_t opening_time_ns(std::uint64_t now) const noexcept {
    return total_opening_ns + (is_opening() ? now - std::min(opening_start_ns, now) : 0);
  }

  const std::unique_ptr<DeviceSource> source;
  const std::shared_ptr<HostSource> host;
  SourceCache answer;
  Plan request;
  std::uint64_t end_ns = 0;
  bool closes_when_idle = false;
  mutable bool is_cut_short = false;  // by a cancel: what it did not read may still exist
  // The reading before it: what the source has cached must not be reused.
  bool was_cut_short = false;
  std::vector<std::uint32_t> hung_devices;  // indexes of devices that hang

  bool is_busy = false;  // has a request
  bool should_quit = false;
  std::uint32_t current_device = 0;    // index of the device that is being queried
  bool can_be_set_aside = false;       // whether that device may be set aside
  std::uint64_t progress_ns = 0;       // when that query began, or was answered
  std::uint64_t opening_start_ns = 0;  // 0: no opening in progress
  std::uint64_t total_opening_ns = 0;  // total time of the openings that have ended

 private:
  // Closes a source that must not stay open while idle. Returns false when the thread is to end.
  bool wait_for_work(Lock& lock) {
    std::uint64_t limit =
        closes_when_idle ? add_duration(monotonic_ns(), idle_close_ns_) : platform::no_deadline;
    while (!should_quit && !is_busy) {
      if (shared_state_->work_ready.wait_until(lock, limit) || should_quit || is_busy) continue;
      limit = platform::no_deadline;
      lock.unlock();
      source->close();
      lock.lock();
    }
    return !should_quit;
  }

  const std::shared_ptr<SharedState> shared_state_;
  const std::uint64_t idle_close_ns_;
  // Null for a thread, which may outlive the context, and for a source that never waits.
  const std::atomic<bool>* const cancel_flag_;
};

// A caller's place in the queue, until its scope ends.
class Worker::QueueTicket {
 public:
  QueueTicket(Worker& worker, Lock& lock) : worker_(worker), lock_(lock) {
    worker.queue_.push_back(this);
  }
  QueueTicket(const QueueTicket&) = delete;
  ~QueueTicket() {
    if (!lock_.owns_lock()) lock_.lock();
    std::erase(worker_.queue_, this);
    if (!worker_.queue_.empty()) worker_.shared_state_->changed.notify_all();
  }
  [[nodiscard]] bool is_first() const noexcept { return worker_.queue_.front() == this; }

 private:
  Worker& worker_;
  Lock& lock_;
};

enum class Worker::Outcome {
  done,  // the reading is complete
  late,  // the deadline has passed, or an earlier reading has not returned: the rest follows later
  set_aside,  // a device is left out from now on, and nothing has been read yet
  cancelled,  // the context was cancelled: the caller no longer waits
};

Worker::Worker(SourceEntry entry, std::shared_ptr<HostSource> host, const Settings& settings,
               const Limits& limits, const std::atomic<bool>& is_cancelled)
    : settings_(settings),
      limits_(limits),
      fallback_for_(entry.fallback_for),
      id_(entry.device->id()),
      answered_sources_(entry.device->answered_sources()),
      can_wait_(entry.device->can_wait()),
      is_threaded_(entry.device->can_block() && !settings.no_threads),
      is_cancelled_(is_cancelled),
      shared_state_(std::make_shared<SharedState>()),
      current_thread_(std::make_shared<WorkerThread>(
          std::move(entry.device), std::move(host), shared_state_, settings.idle_close_ns,
          can_wait_ && !is_threaded_ ? &is_cancelled : nullptr)) {
  shared_state_->newest_thread = current_thread_.get();
}

Worker::~Worker() {
  if (!current_thread_ || !is_started_) return;
  const Lock lock(shared_state_->mutex);
  current_thread_->should_quit = true;
  shared_state_->work_ready.notify_all();
}

void Worker::wake() noexcept {
  const Lock lock(shared_state_->mutex);
  shared_state_->changed.notify_all();
}

void Worker::abandon() noexcept {
  // Leaks on purpose: destructors of a driver's state could hang in a child.
  static_cast<void>(new (std::nothrow) auto(std::move(current_thread_)));
  static_cast<void>(new (std::nothrow) auto(std::move(hung_threads_)));
}

Result<void> Worker::run(const Plan& plan, Deadline& deadline, Visitor visit) {
  const std::uint64_t start_ns = continuous_ns();
  const std::uint64_t since_ns = oldest_shareable_ns(limits_, start_ns);
  Lock lock(shared_state_->mutex);
  const QueueTicket ticket(*this, lock);
  std::uint64_t now = start_ns;
  for (bool may_wait = true;; now = continuous_ns()) {
    if (since_ns < now &&
        is_served(plan, shared_state_->cache, shared_state_->last_plan, since_ns, start_ns))
      return publish(shared_state_->cache, since_ns, visit);
    if (ticket.is_first()) {
      if (!is_unattended_ || !current_thread_->is_busy) break;
      // That reading may serve this caller, too.
      const std::uint64_t wait_start_ns = monotonic_ns();
      if (wait(deadline, wait_start_ns, deadline.patience(wait_start_ns), lock) ==
          Outcome::cancelled)
        return cancelled_failure();
      continue;
    }
    if (!may_wait) {
      visit(shared_state_->cache, {start_ns, true});
      return make_late_failure();
    }
    if (must_not_wait(deadline, monotonic_ns())) return cancelled_failure();
    may_wait = shared_state_->changed.wait_until(lock, deadline.end_ns());
  }
  Result<void> outcome = query_source(plan, deadline, monotonic_ns(), lock);
  if (outcome) return publish(shared_state_->cache, start_ns, visit);
  if (is_cancelled(outcome.failure())) return outcome;
  visit(shared_state_->cache, {start_ns, true});
  return outcome;
}

void Worker::visit_cache(Visitor visit, const Freshness& freshness) {
  const Lock lock(shared_state_->mutex);
  visit(shared_state_->cache, freshness);
}

// Returns whether the source is present; absence is cached for a while.
bool Worker::check_presence(std::uint64_t now, Lock& lock) {
  SourceCache& cache = shared_state_->cache;
  if (current_thread_->is_busy || (!cache.refusal && cache.list_ns != 0)) return true;
  if (has_just_failed(now)) return false;
  lock.unlock();
  const Result<void> ok = current_thread_->source->probe();
  lock.lock();
  failed_search_ns_ = ok ? 0 : now;
  is_absence_proven_ = !ok && ok.failure().code == Status::no_source;
  if (ok) return true;
  cache.is_conclusive = is_absence_proven_;
  cache.refusal = ok.failure();
  cache.diagnostics.clear();
  return false;
}

bool Worker::has_just_failed(std::uint64_t now) const noexcept {
  return failed_search_ns_ != 0 && now - failed_search_ns_ < recheck_ns;
}

bool Worker::is_absent(std::uint64_t now) const {
  const Lock lock(shared_state_->mutex);
  return has_just_failed(now) && is_absence_proven_;
}

bool Worker::may_be_present() {
  Lock lock(shared_state_->mutex);
  if (!queue_.empty()) return true;
  const QueueTicket ticket(*this, lock);
  return check_presence(monotonic_ns(), lock);
}

Result<void> Worker::query_source(const Plan& plan, Deadline& deadline, std::uint64_t now,
                                  Lock& lock) {
  drop_returned_threads();
  if (!check_presence(now, lock)) return {};
  if (must_not_wait(deadline, now)) return cancelled_failure();
  if (is_threaded_ && !is_started_)
    is_started_ = platform::start_detached(current_thread_, "hmn") == 0;
  if (is_threaded_ && !is_started_)
    return Failure{Status::limit, id(), {}, "no thread could be started to query the driver"};
  switch (carry_out(plan, deadline, now, lock)) {
    case Outcome::late:
      return make_late_failure();
    case Outcome::cancelled:
      return cancelled_failure();
    default:
      return {};
  }
}

// Returns whether the source may neither be queried nor waited for. A caller whose deadline has
// passed does not wait for a thread.
bool Worker::must_not_wait(const Deadline& deadline, std::uint64_t now) const noexcept {
  return can_wait_ && is_cancelled_ && (!is_threaded_ || now < deadline.end_ns());
}

Failure Worker::make_late_failure() const {
  Failure failure = timeout_failure(id());
  // A process-wide lock in the driver's library blocks the other threads as well.
  const bool is_locked =
      !hung_threads_.empty() && hung_threads_.size() < max_hung_threads &&
      current_thread_->is_busy &&
      monotonic_ns() >= add_duration(current_thread_->progress_ns, Deadline::min_patience_ns);
  if (current_thread_->is_opening() && is_first_opening()) {
    failure.message =
        "the driver is still being opened; persistence mode (nvidia-persistenced) keeps it ready";
  } else if (is_locked) {
    failure.message =
        "a driver call has not returned, nor has one on another thread: the driver's library "
        "answers for no device";
  }
  return failure;
}

// Reads again without a device whose call hangs, and again with one that answered after all.
Worker::Outcome Worker::carry_out(const Plan& plan, Deadline& deadline, std::uint64_t now,
                                  Lock& lock) {
  const std::uint64_t patience = deadline.patience(now);
  if (current_thread_->is_busy && !set_aside(now, patience)) return Outcome::late;
  const std::size_t count_before = hung_threads_.size();
  std::uint64_t end_ns = 0;
  for (;; now = monotonic_ns()) {
    const Outcome outcome = post(plan, deadline, now, patience, lock);
    if (outcome == Outcome::set_aside) continue;
    if (outcome != Outcome::done || hung_threads_.size() <= count_before) return outcome;
    const std::uint64_t chance_end_ns = add_duration(monotonic_ns(), last_chance_factor * patience);
    if (end_ns == 0)
      end_ns = deadline.end_ns() == platform::no_deadline
                   ? deadline.end_ns()
                   : std::min(deadline.end_ns(), chance_end_ns);
    const WorkerThread& hung = *hung_threads_[count_before];
    while (hung.is_busy && !is_cancelled_ && shared_state_->changed.wait_until(lock, end_ns))
      continue;
    if (hung.is_busy) return is_cancelled_ ? Outcome::cancelled : outcome;
    drop_returned_threads();
  }
}

Worker::Outcome Worker::post(const Plan& plan, Deadline& deadline, std::uint64_t now,
                             std::uint64_t patience, Lock& lock) {
  WorkerThread& thread = *current_thread_;
  thread.request = plan;
  thread.request.start_ns = continuous_ns();
  thread.end_ns = deadline.source_end_ns();
  thread.hung_devices.clear();
  for (const std::shared_ptr<WorkerThread>& hung : hung_threads_)
    thread.hung_devices.push_back(hung->current_device);
  thread.record_progress();
  thread.total_opening_ns = 0;
  thread.was_cut_short = std::exchange(thread.is_cut_short, false);
  thread.is_busy = is_threaded_;
  is_unattended_ = false;
  if (is_threaded_) {
    shared_state_->work_ready.notify_all();
    return wait(deadline, now, patience, lock);
  }
  lock.unlock();
  thread.carry_out();
  if (thread.closes_when_idle) thread.source->close();
  lock.lock();
  return thread.is_cut_short ? Outcome::cancelled : Outcome::done;
}

// Waits for the request posted at `now`, and checks from time to time whether a call for one device
// hangs.
Worker::Outcome Worker::wait(Deadline& deadline, std::uint64_t now, std::uint64_t patience,
                             Lock& lock) {
  std::uint64_t next_check_ns = add_duration(now, patience);
  std::uint64_t charged_ns = 0;
  for (;; now = monotonic_ns()) {
    if (is_first_opening()) {
      const std::uint64_t spent_ns = std::max(current_thread_->opening_time_ns(now), charged_ns);
      deadline.charge_opening(spent_ns - std::exchange(charged_ns, spent_ns));
    }
    if (!current_thread_->is_busy) return Outcome::done;
    const bool is_opening = current_thread_->is_opening() && is_first_opening();
    const std::uint64_t limit = is_opening ? deadline.opening_end_ns(now) : deadline.end_ns();
    is_unattended_ = now < limit && is_cancelled_;
    if (is_unattended_) return Outcome::cancelled;
    if (now >= limit) return Outcome::late;
    if (now >= next_check_ns) {
      if (set_aside(now, patience)) return Outcome::set_aside;
      next_check_ns = add_duration(now, patience);
    }
    shared_state_->changed.wait_until(lock, std::min(next_check_ns, limit));
  }
}

// Returns whether the opening is the first one, rather than another for the remaining devices.
bool Worker::is_first_opening() const noexcept {
  return hung_threads_.empty() || hung_threads_.front()->is_opening();
}

// Abandons a thread whose call for one device has made no progress for `patience`: it ends when the
// call returns, and another one serves the other devices.
bool Worker::set_aside(std::uint64_t now, std::uint64_t patience) {
  const bool is_stuck = current_thread_->can_be_set_aside &&
                        now >= add_duration(current_thread_->progress_ns, patience);
  if (!is_stuck || hung_threads_.size() == max_hung_threads) return false;
  auto source = current_thread_->source->clone(settings_);
  if (!source) return false;
  auto next = std::make_shared<WorkerThread>(std::move(source), current_thread_->host,
                                             shared_state_, settings_.idle_close_ns, nullptr);
  next->answer.update_list(shared_state_->cache);
  hung_threads_.reserve(max_hung_threads);
  if (platform::start_detached(next, "hmn") != 0) return false;
  shared_state_->newest_thread = next.get();
  current_thread_->should_quit = true;
  hung_threads_.push_back(std::exchange(current_thread_, std::move(next)));
  return true;
}

// Devices whose calls have returned are queried again.
void Worker::drop_returned_threads() {
  std::erase_if(hung_threads_,
                [](const std::shared_ptr<WorkerThread>& hung) { return !hung->is_busy; });
}

}  // namespace hmn
