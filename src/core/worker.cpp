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

using platform::continuous_ns;
using platform::later;
using platform::monotonic_ns;

// Interval of searches for a driver or a first card that appears later. A search costs more than
// reading the host's memory.
constexpr std::uint64_t recheck_ns = platform::ns_per_second;

// How many times its patience a reading waits for a device set aside, after it has read the others.
constexpr std::uint64_t last_chance = 4;
constexpr std::size_t most_aside = 15;  // each costs a thread; no server has more than 16 GPUs

// Passes an answer, and returns how its reading ended. A source that noticed itself that its time
// was over is as late as one that no caller waited for any longer.
Result<void> publish(const SourceCache& known, std::uint64_t since, Worker::Visitor visit) {
  const std::optional<Failure>& why = known.refused;
  visit(known, {since, why && is_late(*why)});
  return why ? Result<void>(*why) : Result<void>();
}

}  // namespace

// What the callers and the threads of a source share. Answers are stored while a reading proceeds,
// so that results from before a device hung are not lost with it.
struct Worker::Desk {
  platform::Mutex mutex;        // taken before that of the context's device table, never after it
  platform::Condition posted;   // for the threads: there is something to do
  platform::Condition changed;  // for callers: a reading has ended, or a turn
  SourceCache known;
  std::optional<Plan> finished;  // that all of `known` is from
  const Server* newest{};        // of several threads only this one stores answers
};

// A source, and the thread that queries it. All that both the thread and callers use is guarded by
// the desk's mutex; the rest belongs to the thread while it is busy, else to the caller whose turn
// it is.
class Worker::Server final : public Reading {
 public:
  Server(std::unique_ptr<DeviceSource> s, std::shared_ptr<HostSource> of, std::shared_ptr<Desk> at,
         std::uint64_t close_ns, const std::atomic<bool>* is_cancelled)
      : from(std::move(s)),
        host(std::move(of)),
        desk_(std::move(at)),
        idle_close_ns_(close_ns),
        is_cancelled_(is_cancelled) {}
  ~Server() override { from->close(); }

  // The source compares it with the time between its calls of the driver.
  [[nodiscard]] std::uint64_t deadline_ns() const noexcept override {
    if (is_cancelled_ != nullptr && *is_cancelled_) is_cut_short = true;
    return is_cut_short ? 0 : until;
  }
  [[nodiscard]] bool wants_trace() const noexcept override { return request.wants_trace; }
  [[nodiscard]] bool is_quick() const noexcept override { return request.quick; }
  [[nodiscard]] std::uint64_t max_age_ns() const noexcept override {
    return was_cut_short ? 0 : request.max_age_ns;
  }
  [[nodiscard]] std::optional<std::uint64_t> host_total() const override { return total_of(*host); }
  void diagnose(const Diagnostic& d) override { answer.diagnostics.push_back(d); }
  bool may_ask(std::uint32_t index, std::size_t count) noexcept override {
    const Lock held(desk_->mutex);
    if (quits || std::ranges::find(left_out, index) != left_out.end()) return false;
    asks = index;
    make_progress();
    can_be_left_out = count > left_out.size() + 1;
    return true;
  }
  void answered() noexcept override {
    const Lock held(desk_->mutex);
    make_progress();
  }
  void recall(DeviceVisitor visit) const override {
    for (const DeviceCache& d : answer.devices) visit(d.identity, d.listed);
  }
  void correct_state(Slot number, hmn::State now) override {
    answer.entry_of(number).identity.state = now;
  }
  [[nodiscard]] const std::atomic<bool>* cancelled() const noexcept override {
    return is_cancelled_;
  }
  void cut_short() noexcept override { is_cut_short = true; }
  void opening() noexcept override {
    const Lock held(desk_->mutex);
    opening_since_ns = monotonic_ns();
  }
  void opened() noexcept override {
    const Lock held(desk_->mutex);
    make_progress();
    const std::uint64_t took = progress_ns - std::exchange(opening_since_ns, 0);
    opened_ns += took;
    until = later(until, took);
  }

  void carry_out() {
    answer.diagnostics.clear();
    closes_when_idle = query(*from, request, answer, *this, [this](DeviceCache* done) {
      answered();
      if (is_cut_short) {
        if (done != nullptr) done->forget_reading();
        return;
      }
      const Lock held(desk_->mutex);
      if (desk_->newest != this) return;
      desk_->finished.reset();
      if (done == nullptr) return desk_->known.update_list(answer);
      desk_->known.update_device(*done);
    });
    const Lock held(desk_->mutex);
    if (desk_->newest != this) return;
    if (is_cut_short) return desk_->finished.reset();
    desk_->known.finish(answer);
    desk_->finished = request;
  }

  void run() {
    Lock held(desk_->mutex);
    while (wait_for_work(held)) {
      held.unlock();
      carry_out();
      held.lock();
      is_busy = false;
      desk_->changed.notify_all();
    }
    held.unlock();
    from->close();
  }

  // The caller holds the mutex, as for the next two functions.
  void make_progress() noexcept {
    can_be_left_out = false;
    progress_ns = monotonic_ns();
  }
  [[nodiscard]] bool is_opening() const noexcept { return opening_since_ns != 0; }
  // Returns the time that openings have taken within this reading.
  [[nodiscard]] std::uint64_t spent_opening(std::uint64_t now) const noexcept {
    return opened_ns + (is_opening() ? now - std::min(opening_since_ns, now) : 0);
  }

  const std::unique_ptr<DeviceSource> from;
  const std::shared_ptr<HostSource> host;
  SourceCache answer;
  Plan request;
  std::uint64_t until = 0;
  bool closes_when_idle = false;
  mutable bool is_cut_short = false;    // by a cancel: what it did not read is not known as missing
  bool was_cut_short = false;           // the reading before it: what the source keeps is of no use
  std::vector<std::uint32_t> left_out;  // indexes of devices that hang

  bool is_busy = false;  // has a request
  bool quits = false;
  std::uint32_t asks = 0;              // index of the device that is being asked
  bool can_be_left_out = false;        // whether that device may be set aside
  std::uint64_t progress_ns = 0;       // when that query began, or was answered
  std::uint64_t opening_since_ns = 0;  // 0: opens nothing
  std::uint64_t opened_ns = 0;         // total time of the openings that have ended

 private:
  // Closes a source that must not stay open while idle. Returns false when the thread is to end.
  bool wait_for_work(Lock& held) {
    std::uint64_t limit =
        closes_when_idle ? later(monotonic_ns(), idle_close_ns_) : platform::no_deadline;
    while (!quits && !is_busy) {
      if (desk_->posted.wait_until(held, limit) || quits || is_busy) continue;
      limit = platform::no_deadline;
      held.unlock();
      from->close();
      held.lock();
    }
    return !quits;
  }

  const std::shared_ptr<Desk> desk_;
  const std::uint64_t idle_close_ns_;
  // Null for a thread, which may outlive the context, and where nothing is waited for.
  const std::atomic<bool>* const is_cancelled_;
};

// A caller's place in the queue, until its scope ends.
class Worker::Turn {
 public:
  Turn(Worker& of, Lock& held) : of_(of), held_(held) { of.queue_.push_back(this); }
  Turn(const Turn&) = delete;
  ~Turn() {
    if (!held_.owns_lock()) held_.lock();
    std::erase(of_.queue_, this);
    if (!of_.queue_.empty()) of_.desk_->changed.notify_all();
  }
  [[nodiscard]] bool has_come() const noexcept { return of_.queue_.front() == this; }

 private:
  Worker& of_;
  Lock& held_;
};

enum class Worker::Outcome {
  done,       // the reading is complete
  late,       // the deadline passed, or an earlier reading has not returned: the rest comes later
  set_aside,  // a device is left out from now on, and nothing has been read yet
  cancelled,  // the context was cancelled: the caller no longer waits
};

Worker::Worker(ListedSource listed, std::shared_ptr<HostSource> host, const Settings& s,
               const Limits& l, const std::atomic<bool>& is_cancelled)
    : settings_(s),
      limits_(l),
      fallback_for_(listed.fallback_for),
      id_(listed.device->id()),
      answers_for_(listed.device->all_answered_for()),
      can_wait_(listed.device->can_wait()),
      is_threaded_(listed.device->can_block() && !s.no_threads),
      is_cancelled_(is_cancelled),
      desk_(std::make_shared<Desk>()),
      current_(std::make_shared<Server>(std::move(listed.device), std::move(host), desk_,
                                        s.idle_close_ns,
                                        can_wait_ && !is_threaded_ ? &is_cancelled : nullptr)) {
  desk_->newest = current_.get();
}

Worker::~Worker() {
  if (!current_ || !is_started_) return;
  const Lock held(desk_->mutex);
  current_->quits = true;
  desk_->posted.notify_all();
}

void Worker::wake() noexcept {
  const Lock held(desk_->mutex);
  desk_->changed.notify_all();
}

void Worker::abandon() noexcept {
  // Leaks on purpose: destructors of a driver's state could hang in a child.
  static_cast<void>(new (std::nothrow) auto(std::move(current_)));
  static_cast<void>(new (std::nothrow) auto(std::move(aside_)));
}

Result<void> Worker::run(const Plan& p, Deadline& d, Visitor visit) {
  const std::uint64_t begun = continuous_ns();
  const std::uint64_t since = shared_since(limits_, begun);
  Lock held(desk_->mutex);
  const Turn mine(*this, held);
  std::uint64_t now = begun;
  for (bool may_wait = true;; now = continuous_ns()) {
    if (since < now && is_served(p, desk_->known, desk_->finished, since, begun))
      return publish(desk_->known, since, visit);
    if (mine.has_come()) {
      if (!is_left_ || !current_->is_busy) break;
      // That reading may serve this caller, too.
      const std::uint64_t from = monotonic_ns();
      if (wait(d, from, d.patience(from), held) == Outcome::cancelled) return why_cancelled();
      continue;
    }
    if (!may_wait) {
      visit(desk_->known, {begun, true});
      return why_late();
    }
    if (must_not_wait(d, monotonic_ns())) return why_cancelled();
    may_wait = desk_->changed.wait_until(held, d.until());
  }
  Result<void> asked = ask(p, d, monotonic_ns(), held);
  if (asked) return publish(desk_->known, begun, visit);
  if (is_cancelled(asked.why())) return asked;
  visit(desk_->known, {begun, true});
  return asked;
}

void Worker::show(Visitor visit, const Moment& m) {
  const Lock held(desk_->mutex);
  visit(desk_->known, m);
}

// Returns whether the source is present; absence is cached for a while.
bool Worker::is_present(std::uint64_t now, Lock& held) {
  SourceCache& known = desk_->known;
  if (current_->is_busy || (!known.refused && known.listed_ns != 0)) return true;
  if (has_just_failed(now)) return false;
  held.unlock();
  const Result<void> present = current_->from->probe();
  held.lock();
  failed_search_ns_ = present ? 0 : now;
  is_conclusive_ = !present && present.why().code == Status::no_source;
  if (present) return true;
  known.conclusive = is_conclusive_;
  known.refused = present.why();
  known.diagnostics.clear();
  return false;
}

bool Worker::has_just_failed(std::uint64_t now) const noexcept {
  return failed_search_ns_ != 0 && now - failed_search_ns_ < recheck_ns;
}

bool Worker::is_absent(std::uint64_t now) const {
  const Lock held(desk_->mutex);
  return has_just_failed(now) && is_conclusive_;
}

bool Worker::may_serve() {
  Lock held(desk_->mutex);
  if (!queue_.empty()) return true;
  const Turn mine(*this, held);
  return is_present(monotonic_ns(), held);
}

Result<void> Worker::ask(const Plan& p, Deadline& d, std::uint64_t now, Lock& held) {
  take_back();
  if (!is_present(now, held)) return {};
  if (must_not_wait(d, now)) return why_cancelled();
  if (is_threaded_ && !is_started_) is_started_ = platform::start_detached(current_, "hmn") == 0;
  if (is_threaded_ && !is_started_)
    return Failure{Status::limit, id(), {}, "no thread could be started to ask the driver on"};
  switch (carry_out(p, d, now, held)) {
    case Outcome::late:
      return why_late();
    case Outcome::cancelled:
      return why_cancelled();
    default:
      return {};
  }
}

// Returns whether the source may not be asked, or waited for. A caller whose time is over does not
// wait for a thread.
bool Worker::must_not_wait(const Deadline& d, std::uint64_t now) const noexcept {
  return can_wait_ && is_cancelled_ && (!is_threaded_ || now < d.until());
}

Failure Worker::why_late() const {
  Failure late = answered_too_late(id());
  // A process-wide lock in the driver's library blocks the other threads as well.
  const bool is_locked =
      !aside_.empty() && aside_.size() < most_aside && current_->is_busy &&
      monotonic_ns() >= later(current_->progress_ns, Deadline::least_patience_ns);
  if (current_->is_opening() && is_first_opening()) {
    late.message =
        "the driver is still being opened; persistence mode (nvidia-persistenced) keeps it ready";
  } else if (is_locked) {
    late.message =
        "a driver call has not returned, nor has one on another thread: the driver's library "
        "answers for no device";
  }
  return late;
}

// Reads again without a device whose call hangs, and again with one that answered after all.
Worker::Outcome Worker::carry_out(const Plan& p, Deadline& d, std::uint64_t now, Lock& held) {
  const std::uint64_t patience = d.patience(now);
  if (current_->is_busy && !set_aside(now, patience)) return Outcome::late;
  const std::size_t before = aside_.size();
  std::uint64_t end = 0;
  for (;; now = monotonic_ns()) {
    const Outcome out = post(p, d, now, patience, held);
    if (out == Outcome::set_aside) continue;
    if (out != Outcome::done || aside_.size() <= before) return out;
    const std::uint64_t chance = later(monotonic_ns(), last_chance * patience);
    if (end == 0)
      end = d.until() == platform::no_deadline ? d.until() : std::min(d.until(), chance);
    const Server& hung = *aside_[before];
    while (hung.is_busy && !is_cancelled_ && desk_->changed.wait_until(held, end)) continue;
    if (hung.is_busy) return is_cancelled_ ? Outcome::cancelled : out;
    take_back();
  }
}

Worker::Outcome Worker::post(const Plan& p, Deadline& d, std::uint64_t now, std::uint64_t patience,
                             Lock& held) {
  Server& to = *current_;
  to.request = p;
  to.request.begun_ns = continuous_ns();
  to.until = d.source_until();
  to.left_out.clear();
  for (const std::shared_ptr<Server>& hung : aside_) to.left_out.push_back(hung->asks);
  to.make_progress();
  to.opened_ns = 0;
  to.was_cut_short = std::exchange(to.is_cut_short, false);
  to.is_busy = is_threaded_;
  is_left_ = false;
  if (is_threaded_) {
    desk_->posted.notify_all();
    return wait(d, now, patience, held);
  }
  held.unlock();
  to.carry_out();
  if (to.closes_when_idle) to.from->close();
  held.lock();
  return to.is_cut_short ? Outcome::cancelled : Outcome::done;
}

// Waits for what was posted at `now`, and checks from time to time whether a call for one device
// hangs.
Worker::Outcome Worker::wait(Deadline& d, std::uint64_t now, std::uint64_t patience, Lock& held) {
  std::uint64_t look = later(now, patience);
  std::uint64_t charged = 0;
  for (;; now = monotonic_ns()) {
    if (is_first_opening()) {
      const std::uint64_t spent = std::max(current_->spent_opening(now), charged);
      d.charge_opening(spent - std::exchange(charged, spent));
    }
    if (!current_->is_busy) return Outcome::done;
    const bool is_opening = current_->is_opening() && is_first_opening();
    const std::uint64_t limit = is_opening ? d.open_until(now) : d.until();
    is_left_ = now < limit && is_cancelled_;
    if (is_left_) return Outcome::cancelled;
    if (now >= limit) return Outcome::late;
    if (now >= look) {
      if (set_aside(now, patience)) return Outcome::set_aside;
      look = later(now, patience);
    }
    desk_->changed.wait_until(held, std::min(look, limit));
  }
}

// Returns whether the opening is the first one, rather than another for the remaining devices.
bool Worker::is_first_opening() const noexcept {
  return aside_.empty() || aside_.front()->is_opening();
}

// Leaves behind a thread whose call for one device has made no progress for `patience`: it ends
// when the call returns, and another one serves the other devices.
bool Worker::set_aside(std::uint64_t now, std::uint64_t patience) {
  const bool is_stuck = current_->can_be_left_out && now >= later(current_->progress_ns, patience);
  if (!is_stuck || aside_.size() == most_aside) return false;
  auto made = current_->from->again(settings_);
  if (!made) return false;
  auto next = std::make_shared<Server>(std::move(made), current_->host, desk_,
                                       settings_.idle_close_ns, nullptr);
  next->answer.update_list(desk_->known);
  aside_.reserve(most_aside);
  if (platform::start_detached(next, "hmn") != 0) return false;
  desk_->newest = next.get();
  current_->quits = true;
  aside_.push_back(std::exchange(current_, std::move(next)));
  return true;
}

// Devices whose calls have returned are queried again.
void Worker::take_back() {
  std::erase_if(aside_, [](const std::shared_ptr<Server>& hung) { return !hung->is_busy; });
}

}  // namespace hmn
