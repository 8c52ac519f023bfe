// SPDX-License-Identifier: MIT OR Apache-2.0
#include "core/worker.hpp"

#include <algorithm>
#include <atomic>
#include <new>
#include <utility>

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

template <class T>
void adopt(part<T>& known, part<T>& fresh) {
  if (fresh.tried_ns == known.tried_ns) return;
  if (fresh.taken_ns != known.taken_ns) known.value = std::move(fresh.value);
  known.taken_ns = fresh.taken_ns;
  known.tried_ns = fresh.tried_ns;
  known.why = fresh.why;
  known.stands = fresh.stands;
}

void adopt(device_answer& known, device_answer& fresh) {
  adopt(known.pools, fresh.pools);
  adopt(known.telemetry, fresh.telemetry);
  known.telemetry_asked = fresh.telemetry_asked;
  adopt(known.self, fresh.self);
  adopt(known.process, fresh.process);
  adopt(known.processes, fresh.processes);
  adopt(known.metrics, fresh.metrics);
  known.slow_asked = fresh.slow_asked;
}

}  // namespace

// Answers of a source, published while the reading proceeds: results from before a device hung are
// not lost with it.
class worker::shared_answer {
 public:
  void take_list(const source_answer& fresh) {
    const std::lock_guard lock(mutex_);
    for (const device_answer& d : fresh.devices) {
      device_answer& known = entry_of(d.identity.number);
      known.identity = d.identity;
      known.listed = d.listed;
    }
    known_.listed_ns = fresh.listed_ns;
    known_.refused.reset();
  }

  void take_device(device_answer& fresh) {
    const std::lock_guard lock(mutex_);
    adopt(entry_of(fresh.identity.number), fresh);
  }

  // Publishes the complete answer.
  void finish(source_answer& fresh) noexcept {
    const std::lock_guard lock(mutex_);
    known_.diagnostics.swap(fresh.diagnostics);
    known_.refused = std::move(fresh.refused);
    known_.conclusive = fresh.conclusive;
    known_.condition = std::move(fresh.condition);
  }

  // Records that the source was not queried; no_source means that it is absent from this machine.
  void refuse(failure why) noexcept {
    const std::lock_guard lock(mutex_);
    known_.conclusive = why.code == status::no_source;
    known_.refused = std::move(why);
    known_.diagnostics.clear();
  }

  // Passes the consistent current answer to `visit`.
  template <class T>
  T visit(function_ref<T(const source_answer& known)> visit) const {
    const std::lock_guard lock(mutex_);
    return visit(known_);
  }

 private:
  device_answer& entry_of(slot number) {
    if (device_answer* found = known_.find(number)) return *found;
    device_answer& added = known_.devices.emplace_back();
    added.identity.number = number;
    return added;
  }

  mutable platform::mutex mutex_;
  source_answer known_;
};

enum class worker::outcome {
  done,       // the reading is complete
  late,       // the deadline passed; partial results are known, the others come later
  busy,       // an earlier reading has not returned yet
  no_thread,  // no thread could be started
};

struct worker::shared_state final : reading {
  explicit shared_state(std::unique_ptr<device_source> s, const settings& set)
      : from(std::move(s)), idle_close_ns(set.idle_close_ns) {}
  ~shared_state() override {
    if (from) from->close();
  }

  [[nodiscard]] std::uint64_t deadline_ns() const noexcept override { return until; }
  [[nodiscard]] bool wants_trace() const noexcept override { return request.wants_trace; }
  void diagnose(diagnostic d) override { answer.diagnostics.push_back(std::move(d)); }
  void opening() noexcept override {
    opening_since = platform::monotonic_ns();
    enter(phase::opening);
  }
  void opened() noexcept override {
    until = platform::later(until, platform::monotonic_ns() - opening_since);
    enter(phase::working);
  }

  void enter(std::uint32_t next) noexcept {
    std::uint32_t seen = state.load(std::memory_order_relaxed);
    while (!state.compare_exchange_weak(seen, (seen & ~phase_mask) | next,
                                        std::memory_order_acq_rel)) {
    }
    platform::wake_all(state);
  }

  void carry_out() {
    answer.diagnostics.clear();
    closes_when_idle = query(*from, request, answer, *this, [this](device_answer* done) {
      if (done != nullptr) {
        known.take_device(*done);
      } else {
        known.take_list(answer);
      }
    });
    known.finish(answer);
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

  std::unique_ptr<device_source> from;
  std::uint64_t idle_close_ns;
  plan request;
  std::uint64_t until = 0;
  std::uint64_t opening_since = 0;
  source_answer answer;
  bool closes_when_idle = false;
  shared_answer known;
  std::atomic<std::uint32_t> state{idle};
};

worker::worker(listed_source listed, const settings& s, const limits& l)
    : limits_(l),
      fallback_for_(listed.fallback_for),
      id_(listed.device->id()),
      answers_for_(listed.device->all_answered_for()),
      is_threaded_(listed.device->can_block() && !s.no_threads) {
  shared_ = std::make_shared<shared_state>(std::move(listed.device), s);
}

worker::~worker() {
  if (!shared_ || !is_started_) return;
  shared_->state.fetch_or(quit_bit, std::memory_order_acq_rel);
  platform::wake_all(shared_->state);
}

void worker::abandon() noexcept {
  // Leaks on purpose: destructors of a driver's state could hang in a child.
  static_cast<void>(new (std::nothrow) std::shared_ptr<shared_state>(std::move(shared_)));
}

bool worker::is_idle() const noexcept {
  return phase_of(shared_->state.load(std::memory_order_acquire)) == idle;
}

bool worker::is_opening() const noexcept {
  return phase_of(shared_->state.load(std::memory_order_acquire)) == opening;
}

result<void> worker::run(const plan& p, deadline& d, visitor visit) {
  const std::uint64_t begun = platform::monotonic_ns();
  const timed_guard turn(turn_, d.until());
  if (!turn) {
    show(visit, {begun, true});
    return why_late(is_opening());
  }
  if (is_young_enough(p, begun)) {
    show(visit, {shared_since(limits_, begun), false});
    return outcome_of_last();
  }
  result<void> asked = ask(p, d, begun);
  show(visit, {begun, !asked});
  return asked ? outcome_of_last() : asked;
}

void worker::show(visitor visit, const moment& m) {
  shared_->known.visit<void>([&](const source_answer& known) { visit(known, m); });
}

bool worker::is_young_enough(const plan& p, std::uint64_t now) {
  if (limits_.max_age_ns == 0 || p.describe) return false;
  const std::uint64_t since = shared_since(limits_, now);
  return shared_->known.visit<bool>([&](const source_answer& known) {
    if (known.refused || known.listed_ns == 0 || (p.list && known.listed_ns < since)) return false;
    return std::ranges::all_of(known.devices, [&](const device_answer& d) {
      const bool wanted = p.only ? d.identity.number == *p.only : d.listed;
      return !wanted || is_answered(d, p, since);
    });
  });
}

// Returns whether to search for the source: not if it has served before.
bool worker::must_probe() {
  return shared_->known.visit<bool>(
      [](const source_answer& known) { return known.refused || known.listed_ns == 0; });
}

// Returns whether the source is present; absence is cached for a while.
bool worker::is_present(std::uint64_t now) {
  if (!is_idle() || !must_probe()) return true;
  if (absent_since_ns_ != 0 && now - absent_since_ns_ < recheck_ns) return false;
  result<void> present = shared_->from->probe();
  absent_since_ns_ = present ? 0 : now;
  if (!present) shared_->known.refuse(present.why());
  return static_cast<bool>(present);
}

result<void> worker::ask(const plan& p, deadline& d, std::uint64_t now) {
  if (!is_present(now)) return {};
  const bool was_opening = is_opening();
  switch (post(p, d)) {
    case outcome::done:
      return {};
    case outcome::late:
      return why_late(is_opening());
    case outcome::busy:
      return why_late(was_opening);
    case outcome::no_thread:
      break;
  }
  return failure{status::limit, id(), {}, "no thread could be started to ask the driver on"};
}

result<void> worker::outcome_of_last() {
  return shared_->known.visit<result<void>>([](const source_answer& known) {
    return known.refused ? result<void>(*known.refused) : result<void>();
  });
}

failure worker::why_late(bool is_opening) const {
  if (!is_opening) return answered_too_late(id());
  return {
      status::timeout,
      id(),
      {},
      "the driver is still being opened; persistence mode (nvidia-persistenced) keeps it ready"};
}

bool worker::start_thread() {
  if (is_started_) return true;
  auto held = std::make_unique<std::shared_ptr<shared_state>>(shared_);
  const auto entry = [](void* argument) {
    const std::unique_ptr<std::shared_ptr<shared_state>> mine(
        static_cast<std::shared_ptr<shared_state>*>(argument));
    (*mine)->work();
  };
  if (platform::start_detached(entry, held.get(), "hmn") != 0) return false;
  held.release();
  is_started_ = true;
  return true;
}

worker::outcome worker::post(const plan& p, deadline& d) {
  if (!is_idle()) return outcome::busy;
  if (is_threaded_ && !start_thread()) return outcome::no_thread;
  shared_->request = p;
  shared_->until = d.source_until();
  if (!is_threaded_) {
    shared_->carry_out();
    shared_->enter(idle);
    if (shared_->closes_when_idle) shared_->from->close();
    return outcome::done;
  }
  const std::uint32_t seen = shared_->state.load(std::memory_order_relaxed);
  const std::uint32_t next = (seen + one_posting) | posted;
  shared_->state.store(next, std::memory_order_release);
  platform::wake_one(shared_->state);
  return wait(next, d);
}

worker::outcome worker::wait(std::uint32_t word, deadline& d) {
  std::uint64_t opening_since = 0;
  for (;;) {
    const std::uint32_t seen = shared_->state.load(std::memory_order_acquire);
    if (phase_of(seen) == opening && opening_since == 0) opening_since = platform::monotonic_ns();
    if (phase_of(seen) != opening && opening_since != 0) {
      d.charge_opening(platform::monotonic_ns() - opening_since);
      opening_since = 0;
    }
    if (phase_of(seen) == idle) return outcome::done;
    const std::uint64_t limit = opening_since != 0 ? d.open_until(opening_since) : d.until();
    word = seen;
    if (platform::wait_on(shared_->state, word, limit) == platform::wake::timed_out && !is_idle()) {
      if (opening_since != 0) d.charge_opening(platform::monotonic_ns() - opening_since);
      return outcome::late;
    }
  }
}

}  // namespace hmn
