// SPDX-License-Identifier: MIT OR Apache-2.0
#include "core/worker.hpp"

#include <algorithm>
#include <array>
#include <atomic>
#include <new>
#include <span>
#include <utility>

#include "core/opening_clock.hpp"
#include "core/query.hpp"
#include "platform/mutex.hpp"
#include "platform/thread.hpp"
#include "platform/wait.hpp"

namespace hmn {
namespace {

// Interval of searches for a driver or a first card that appears later. A search costs more than
// reading the host's memory.
constexpr std::uint64_t recheck_ns = platform::ns_per_second;

// Phases in the low two bits of the state word. A quit bit follows, then a count that makes each
// posting distinct.
enum phase : std::uint32_t { idle = 0, posted = 1, opening = 2, working = 3 };
constexpr std::uint32_t phase_mask = 3;
constexpr std::uint32_t quit_bit = 4;
constexpr std::uint32_t one_posting = 8;

constexpr std::uint32_t phase_of(std::uint32_t word) {
  return word & phase_mask;
}

// Time without progress in calls for one device after which it is set aside: an eighth of what the
// reading may take, within these.
constexpr std::uint64_t least_patience_ns = 100 * platform::ns_per_ms;
constexpr std::uint64_t most_patience_ns = 200 * platform::ns_per_ms;
// How often that time the reading then waits for the device after it has read the others.
constexpr std::uint64_t last_chance = 4;
// Each costs a thread. No server has more GPUs than one more.
constexpr std::size_t most_aside = 15;

// Place of a reading: index + 1 of the device that is being asked (0: none that could be left out),
// and a count that makes each entry distinct.
constexpr std::uint32_t place_mask = 0xFFF;
constexpr std::uint32_t one_entry = place_mask + 1;

template <class T>
void adopt(part<T>& known, part<T>& fresh) {
  if (fresh.tried_ns <= known.tried_ns) return;
  if (!fresh.why) {
    known.value = std::move(fresh.value);
    known.taken_ns = fresh.taken_ns;
  }
  known.tried_ns = fresh.tried_ns;
  known.why = fresh.why;
  known.stands = fresh.stands;
  known.is_quick = fresh.is_quick;
}

void adopt(device_answer& known, device_answer& fresh) {
  adopt(known.pools, fresh.pools);
  adopt(known.telemetry, fresh.telemetry);
  known.telemetry_asked = fresh.telemetry_asked;
  known.telemetry_lacks = fresh.telemetry_lacks;
  adopt(known.self, fresh.self);
  adopt(known.process, fresh.process);
  adopt(known.processes, fresh.processes);
  adopt(known.metrics, fresh.metrics);
  known.slow_asked = fresh.slow_asked;
}

// Returns whether each device that the plan is about was asked at `since` or later.
bool is_answered(const source_answer& known, const plan& p, std::uint64_t since) {
  if (known.listed_ns == 0 || (p.list && known.listed_ns < since)) return false;
  return std::ranges::all_of(known.devices, [&](const device_answer& d) {
    const bool wanted = p.only ? d.identity.number == *p.only : d.listed;
    return !wanted || is_answered(d, p, since);
  });
}

// Returns whether a search that failed for this reason has shown that the source is absent from
// this machine.
bool is_conclusive(const failure& why) {
  return why.code == status::no_source;
}

// Passes an answer with how its reading ended, and returns that. A source that saw by itself that
// its time was over is as late as one that no caller waited for any longer.
result<void> pass_on(const source_answer& known, std::uint64_t since, worker::visitor visit) {
  result<void> ended;
  if (known.refused) ended = *known.refused;
  visit(known, {since, !ended && is_late(ended.why())});
  return ended;
}

}  // namespace

// Answers of a source, published while the reading proceeds: results from before a device hung are
// not lost with it. Of several threads only the newest publishes.
class worker::shared_answer {
 public:
  // Makes `next` the one that publishes, if it starts, and copies the list of devices for it.
  bool hand_over(const reading& next, source_answer& to, function_ref<bool()> start) {
    const std::lock_guard lock(mutex_);
    for (const device_answer& d : known_.devices) {
      device_answer& added = to.entry_of(d.identity.number);
      added.identity = d.identity;
      added.listed = d.listed;
    }
    if (!start()) return false;
    from_ = &next;
    return true;
  }

  void take_list(const reading& from, const source_answer& fresh) {
    const std::lock_guard lock(mutex_);
    if (from_ != &from) return;
    for (device_answer& known : known_.devices) known.listed = false;
    for (const device_answer& d : fresh.devices) {
      device_answer& known = known_.entry_of(d.identity.number);
      known.identity = d.identity;
      known.listed = d.listed;
    }
    known_.listed_ns = fresh.listed_ns;
    known_.refused.reset();
  }

  void take_device(const reading& from, device_answer& fresh) {
    const std::lock_guard lock(mutex_);
    if (from_ != &from) return;
    is_whole_ = false;
    device_answer& known = known_.entry_of(fresh.identity.number);
    known.identity.state = fresh.identity.state;
    adopt(known, fresh);
  }

  // Publishes the complete answer.
  void finish(const reading& from, const plan& p, source_answer& fresh) noexcept {
    const std::lock_guard lock(mutex_);
    if (from_ != &from) return;
    is_whole_ = true;
    finished_ = p;
    known_.diagnostics.swap(fresh.diagnostics);
    known_.refused = fresh.refused;
    known_.conclusive = fresh.conclusive;
    known_.rests = fresh.rests;
    known_.condition = std::move(fresh.condition);
  }

  // Records that the source was not queried.
  void refuse(const failure& why) noexcept {
    const std::lock_guard lock(mutex_);
    known_.conclusive = is_conclusive(why);
    known_.refused = why;
    known_.diagnostics.clear();
  }

  // Passes the answer of the last reading to `visit`, if it was for this plan and began at
  // `arrived` or later, and the next one has not changed anything yet.
  bool visit_shared(plan p, std::uint64_t arrived,
                    function_ref<bool(const source_answer& known)> visit) const {
    const std::lock_guard lock(mutex_);
    p.begun_ns = finished_.begun_ns;
    return is_whole_ && p.begun_ns >= arrived && p == finished_ && visit(known_);
  }

  // Passes the consistent current answer to `visit`.
  template <class T>
  T visit(function_ref<T(const source_answer& known)> visit) const {
    const std::lock_guard lock(mutex_);
    return visit(known_);
  }

 private:
  mutable platform::mutex mutex_;
  source_answer known_;
  plan finished_;          // the last one that was carried out
  bool is_whole_ = false;  // all is from it
  const reading* from_ = nullptr;
};

enum class worker::outcome {
  done,       // the reading is complete
  late,       // the deadline passed; partial results are known, the others come later
  busy,       // an earlier reading has not returned yet
  set_aside,  // a device is left out from now on, and nothing is read yet
  no_thread,  // no thread could be started
};

struct worker::shared_state final : reading {
  shared_state(std::unique_ptr<device_source> s, std::shared_ptr<shared_answer> to,
               std::uint64_t close_ns)
      : from(std::move(s)), known(std::move(to)), idle_close_ns(close_ns) {}
  ~shared_state() override {
    if (from) from->close();
  }

  [[nodiscard]] std::uint64_t deadline_ns() const noexcept override { return until; }
  [[nodiscard]] bool wants_trace() const noexcept override { return request.wants_trace; }
  [[nodiscard]] bool is_quick() const noexcept override { return request.quick; }
  [[nodiscard]] std::uint64_t max_age_ns() const noexcept override { return request.max_age_ns; }
  void diagnose(const diagnostic& d) override {
    const bool is_left_out = request.quick && d.why.stated == reason::not_yet;
    if (d.about == subject::telemetry && (d.why.lasts || is_left_out) && d.device) {
      answer.entry_of(*d.device).telemetry_lacks |= d.field;
    }
    answer.diagnostics.push_back(d);
  }
  bool may_ask(std::uint32_t index, std::size_t count) noexcept override {
    const std::span out(left_out.data(), left_out_count);
    const bool is_ending = (state.load(std::memory_order_relaxed) & quit_bit) != 0;
    if (is_ending || std::ranges::find(out, index) != out.end()) return false;
    const bool can_be_left_out = count > left_out_count + 1 && index < place_mask;
    const std::uint32_t entries = at.load(std::memory_order_relaxed) & ~place_mask;
    at.store((entries + one_entry) | (can_be_left_out ? index + 1 : 0), std::memory_order_relaxed);
    return true;
  }
  void answered() noexcept override { at.store(0, std::memory_order_relaxed); }
  void recall(device_visitor visit) const override {
    for (const device_answer& d : answer.devices) visit(d.identity, d.listed);
  }
  void correct_state(slot number, hmn::state now) override {
    answer.entry_of(number).identity.state = now;
  }
  void opening() noexcept override {
    openings.begin(platform::monotonic_ns());
    enter(phase::opening);
  }
  void opened() noexcept override {
    answered();
    until = platform::later(until, openings.end(platform::monotonic_ns()));
    enter(phase::working);
  }

  void enter(std::uint32_t next) noexcept {
    std::uint32_t seen = state.load(std::memory_order_relaxed);
    while (!state.compare_exchange_weak(seen, (seen & ~phase_mask) | next,
                                        std::memory_order_acq_rel)) {
    }
    if (next == idle) platform::wake_all(state);  // none waits for an opening
  }

  void carry_out() {
    answer.diagnostics.clear();
    closes_when_idle = query(*from, request, answer, *this, [this](device_answer* done) {
      answered();
      if (done != nullptr) {
        known->take_device(*this, *done);
      } else {
        known->take_list(*this, answer);
      }
    });
    known->finish(*this, request, answer);
  }

  // Sleeps until work is posted; closes a source that must not stay open in the meantime.
  bool wait_for_work() {
    std::uint64_t limit = closes_when_idle
                              ? platform::later(platform::monotonic_ns(), idle_close_ns)
                              : platform::no_deadline;
    for (;;) {
      const std::uint32_t seen = state.load(std::memory_order_acquire);
      if ((seen & quit_bit) != 0) return false;
      if (phase_of(seen) == posted) return true;
      if (platform::wait_on(state, seen, limit) == platform::wake::timed_out) {
        from->close();
        limit = platform::no_deadline;
      }
    }
  }

  void work() {
    while (wait_for_work()) {
      carry_out();
      enter(idle);
    }
    from->close();
  }

  [[nodiscard]] bool is_in(std::uint32_t which) const noexcept {
    return phase_of(state.load(std::memory_order_acquire)) == which;
  }

  bool returns_by(std::uint64_t limit) noexcept {
    for (auto how = platform::wake::changed;;) {
      const std::uint32_t seen = state.load(std::memory_order_acquire);
      if (phase_of(seen) == idle || how == platform::wake::timed_out) return phase_of(seen) == idle;
      how = platform::wait_on(state, seen, limit);
    }
  }

  void leave_out(const std::vector<std::shared_ptr<shared_state>>& aside) noexcept {
    left_out_count = 0;
    for (const auto& hung : aside) left_out[left_out_count++] = hung->hung_at;
  }

  void quit() noexcept {
    state.fetch_or(quit_bit, std::memory_order_acq_rel);
    platform::wake_all(state);
  }

  std::unique_ptr<device_source> from;
  std::shared_ptr<shared_answer> known;
  std::uint64_t idle_close_ns;
  plan request;
  std::array<std::uint32_t, most_aside> left_out{};
  std::size_t left_out_count = 0;
  std::uint64_t until = 0;
  opening_clock openings;
  source_answer answer;
  bool closes_when_idle = false;
  std::uint32_t hung_at = 0;  // the device that it was set aside for
  std::atomic<std::uint32_t> at{0};
  std::atomic<std::uint32_t> state{idle};
};

worker::worker(listed_source listed, const settings& s, const limits& l)
    : settings_(s),
      limits_(l),
      fallback_for_(listed.fallback_for),
      fills_(listed.device->fills()),
      id_(listed.device->id()),
      answers_for_(listed.device->all_answered_for()),
      is_threaded_(listed.device->can_block() && !s.no_threads),
      known_(std::make_shared<shared_answer>()),
      shared_(std::make_shared<shared_state>(std::move(listed.device), known_, s.idle_close_ns)) {
  known_->hand_over(*shared_, shared_->answer, [] { return true; });
}

worker::~worker() {
  if (shared_ && is_started_) shared_->quit();
}

void worker::abandon() noexcept {
  // Leaks on purpose: destructors of a driver's state could hang in a child.
  static_cast<void>(new (std::nothrow) auto(std::move(shared_)));
  static_cast<void>(new (std::nothrow) auto(std::move(aside_)));
}

bool worker::is_idle() const noexcept {
  return shared_->is_in(idle);
}

result<void> worker::run(const plan& p, deadline& d, visitor visit) {
  const std::uint64_t begun = platform::monotonic_ns();
  std::uint64_t now = begun;
  result<void> shared;
  const platform::turn turn(turns_, d.until(), now, [&] { return share(p, begun, visit, shared); });
  if (turn.is_needless()) return shared;
  if (!turn) {
    show(visit, {begun, true});
    return why_late();
  }
  const std::uint64_t since = shared_since(limits_, begun);
  if (since < now && is_answered_since(since, begun, p)) return show_last(visit, since);
  last_ = p;
  result<void> asked = ask(p, d, now);
  if (asked) return show_last(visit, begun);
  show(visit, {begun, true});
  return asked;
}

// Passes what the last reading ended with.
result<void> worker::show_last(visitor visit, std::uint64_t since) {
  return known_->visit<result<void>>(
      [&](const source_answer& known) { return pass_on(known, since, visit); });
}

void worker::show(visitor visit, const moment& m) {
  known_->visit<void>([&](const source_answer& known) { visit(known, m); });
}

// Returns whether a reading that began at `since` or later serves the plan of a caller who arrived
// at `arrived`. Only the last one's reasons are known, which a single value does not need; a
// refusal is shared by those who waited for it.
bool worker::is_answered_since(std::uint64_t since, std::uint64_t arrived, const plan& p) {
  const bool is_like_last = p == last_;
  if (p.describe || !is_idle() || !(is_like_last || (p.only && !p.metrics))) return false;
  return known_->visit<bool>([&](const source_answer& known) {
    if (known.refused) return is_like_last && shared_->request.begun_ns >= arrived;
    return is_answered(known, p, since);
  });
}

// Passes the answer of a reading that began after a caller arrived, who still waits for a turn, if
// it serves his plan.
bool worker::share(const plan& p, std::uint64_t arrived, visitor visit, result<void>& ended) {
  return !p.describe && known_->visit_shared(p, arrived, [&](const source_answer& known) {
    if (!known.refused && !is_answered(known, p, arrived)) return false;
    ended = pass_on(known, arrived, visit);
    return true;
  });
}

// Returns whether to search for the source: not if it has served before.
bool worker::must_probe() {
  return known_->visit<bool>(
      [](const source_answer& known) { return known.refused || known.listed_ns == 0; });
}

// Returns whether the source is present; absence is cached for a while.
bool worker::is_present(std::uint64_t now) {
  if (!is_idle() || !must_probe()) return true;
  if (has_just_failed(now)) return false;
  result<void> present = shared_->from->probe();
  if (!present) known_->refuse(present.why());
  is_conclusive_.store(!present && is_conclusive(present.why()), std::memory_order_relaxed);
  failed_search_ns_.store(present ? 0 : now, std::memory_order_release);
  return static_cast<bool>(present);
}

bool worker::has_just_failed(std::uint64_t now) const noexcept {
  const std::uint64_t since = failed_search_ns_.load(std::memory_order_acquire);
  return since != 0 && now - since < recheck_ns;
}

bool worker::is_absent(std::uint64_t now) const {
  return has_just_failed(now) && is_conclusive_.load(std::memory_order_relaxed);
}

bool worker::may_serve() {
  std::uint64_t now = platform::monotonic_ns();
  const platform::turn turn(turns_, now, now);
  return !turn || is_present(now);
}

result<void> worker::ask(const plan& p, deadline& d, std::uint64_t now) {
  if (!aside_.empty()) take_back();
  if (!is_present(now)) return {};
  switch (carry_out(p, d, now)) {
    case outcome::done:
      return {};
    case outcome::late:
    case outcome::busy:
    case outcome::set_aside:
      judge_lateness();
      return why_late();
    case outcome::no_thread:
      break;
  }
  return failure{status::limit, id(), {}, "no thread could be started to ask the driver on"};
}

failure worker::why_late() const {
  switch (lateness_) {
    case lateness::opening:
      return {status::timeout,
              id(),
              {},
              "the driver is still being opened; persistence mode (nvidia-persistenced) keeps it "
              "ready"};
    case lateness::locked:
      return {status::timeout,
              id(),
              {},
              "a driver call has not returned, nor has one on another thread: the driver's "
              "library answers for no device"};
    case lateness::plain:
      break;
  }
  return answered_too_late(id());
}

bool worker::start_thread(const std::shared_ptr<shared_state>& state) {
  auto held = std::make_unique<std::shared_ptr<shared_state>>(state);
  const auto entry = [](void* argument) {
    const std::unique_ptr<std::shared_ptr<shared_state>> mine(
        static_cast<std::shared_ptr<shared_state>*>(argument));
    (*mine)->work();
  };
  if (platform::start_detached(entry, held.get(), "hmn") != 0) return false;
  held.release();
  return true;
}

// Carries out the plan: again without a device whose call hangs, and again with one that answered
// after all.
worker::outcome worker::carry_out(const plan& p, deadline& d, std::uint64_t now) {
  const std::uint64_t patience =
      std::clamp((d.until() - std::min(now, d.until())) / 8, least_patience_ns, most_patience_ns);
  if (!is_idle() && !(is_stuck(patience) && set_aside())) return outcome::busy;
  const std::size_t before = aside_.size();
  std::uint64_t end = 0;
  for (;;) {
    const outcome out = post(p, d, now, patience);
    const bool waits = out == outcome::done && aside_.size() > before;
    if (out != outcome::set_aside && !waits) return out;
    now = platform::monotonic_ns();
    if (!waits) continue;
    if (end == 0) {
      end = platform::later(now, last_chance * patience);
      end = d.until() == platform::no_deadline ? d.until() : std::min(d.until(), end);
    }
    if (!aside_[before]->returns_by(end)) return out;
    take_back();
  }
}

worker::outcome worker::post(const plan& p, deadline& d, std::uint64_t now,
                             std::uint64_t patience) {
  if (is_threaded_ && !is_started_) is_started_ = start_thread(shared_);
  if (is_threaded_ && !is_started_) return outcome::no_thread;
  shared_state& to = *shared_;
  to.request = p;
  to.request.begun_ns = now;
  to.until = d.source_until();
  to.openings.reset();
  to.leave_out(aside_);
  lateness_ = lateness::plain;
  if (!is_threaded_) {
    to.carry_out();
    if (!to.is_in(idle)) to.enter(idle);  // no thread waits for it
    if (to.closes_when_idle) to.from->close();
    return outcome::done;
  }
  to.at.store(0, std::memory_order_relaxed);
  const std::uint32_t seen = to.state.load(std::memory_order_relaxed);
  to.state.store((seen + one_posting) | posted, std::memory_order_release);
  platform::wake_one(to.state);
  return wait(d, now, patience);
}

// Waits for what was posted at `now`, and looks in between whether a call for one device hangs.
worker::outcome worker::wait(deadline& d, std::uint64_t now, std::uint64_t patience) {
  std::uint64_t look = platform::later(now, patience);
  seen_ = 0;
  since_ns_ = now;
  for (;;) {
    const std::uint32_t seen = shared_->state.load(std::memory_order_acquire);
    if (is_first_opening()) d.charge_opening(shared_->openings.take(now));
    const bool opens = is_opening();
    lateness_ = opens ? lateness::opening : lateness::plain;
    if (phase_of(seen) == idle) return outcome::done;
    const std::uint64_t limit = opens ? d.open_until(now) : d.until();
    if (now >= std::min(look, limit)) {
      const bool stuck = is_stuck(patience);
      if (now >= limit) return outcome::late;
      if (stuck && set_aside()) return outcome::set_aside;
      look = platform::later(now, patience);
    }
    platform::wait_on(shared_->state, seen, std::min(look, limit));
    now = platform::monotonic_ns();
  }
}

// Returns whether calls for one device have made no progress for that long, nor at an earlier look.
bool worker::is_stuck(std::uint64_t patience) {
  const std::uint32_t at = shared_->at.load(std::memory_order_relaxed);
  const std::uint64_t now = platform::monotonic_ns();
  if (at != seen_) since_ns_ = now;
  seen_ = at;
  return (at & place_mask) != 0 && now - since_ns_ >= patience;
}

// Leaves the hung thread behind, which ends when its call returns, and has another one serve the
// other devices.
bool worker::set_aside() {
  if (aside_.size() == most_aside) return false;
  auto made = shared_->from->again(settings_);
  if (!made) return false;
  auto next = std::make_shared<shared_state>(std::move(made), known_, settings_.idle_close_ns);
  aside_.reserve(most_aside);
  if (!known_->hand_over(*next, next->answer, [&] { return start_thread(next); })) {
    return false;
  }
  shared_->hung_at = (seen_ & place_mask) - 1;
  shared_->quit();
  aside_.push_back(std::exchange(shared_, std::move(next)));
  return true;
}

// Devices whose calls have returned are asked again.
void worker::take_back() {
  for (std::size_t i = aside_.size(); i-- > 0;) {
    if (!aside_[i]->is_in(idle)) continue;
    for (std::size_t k = i + 1; k < aside_.size(); ++k) aside_[k - 1].swap(aside_[k]);
    aside_.pop_back();
  }
}

// Returns whether the driver is being opened, rather than a further time for the other devices.
bool worker::is_opening() const noexcept {
  return shared_->is_in(opening) && is_first_opening();
}

bool worker::is_first_opening() const noexcept {
  return aside_.empty() || aside_.front()->is_in(opening);
}

// A process-wide lock of the driver's library holds the other threads, too.
void worker::judge_lateness() {
  const bool waited = platform::monotonic_ns() - since_ns_ >= least_patience_ns;
  const bool has_tried = !aside_.empty() && aside_.size() < most_aside;
  lateness_ = is_opening()          ? lateness::opening
              : has_tried && waited ? lateness::locked
                                    : lateness::plain;
}

}  // namespace hmn
