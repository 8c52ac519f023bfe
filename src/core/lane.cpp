// SPDX-License-Identifier: MIT OR Apache-2.0
#include "core/lane.hpp"

#include <atomic>
#include <new>
#include <utility>

#include "core/perform.hpp"
#include "platform/thread.hpp"
#include "platform/wait.hpp"

namespace hmn {
namespace {

// The state word: what is going on in the low two bits, a quit bit, and above a count that makes
// each posting another number.
enum phase : std::uint32_t { idle = 0, posted = 1, opening = 2, working = 3 };
constexpr std::uint32_t phase_mask = 3;
constexpr std::uint32_t quit_bit = 4;
constexpr std::uint32_t one_posting = 8;

constexpr std::uint32_t phase_of(std::uint32_t word) {
  return word & phase_mask;
}

}  // namespace

struct lane::cell final : reading {
  explicit cell(std::unique_ptr<device_source> s, const settings& set)
      : from(std::move(s)), idle_close_ns(set.idle_close_ns) {}
  ~cell() override {
    if (from) from->close();
  }

  [[nodiscard]] std::uint64_t deadline_ns() const noexcept override { return until; }
  [[nodiscard]] bool wants_trace() const noexcept override { return request.wants_trace; }
  void remark(diagnostic d) override { answer.remarks.push_back(std::move(d)); }
  void opening() noexcept override {
    opening_since = platform::monotonic_ns();
    enter(phase::opening);
  }
  void opened() noexcept override {
    until += platform::monotonic_ns() - opening_since;
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
    answer.remarks.clear();
    perform(*from, request, answer, *this, [this](device_reply* done) {
      if (done != nullptr) {
        shown.take_device(*done);
      } else {
        shown.take_list(answer);
      }
    });
    shown.finish(answer);
  }

  // Sleeps until something is posted; closes a source that must not stay open meanwhile.
  bool wait_for_work() {
    std::uint64_t limit =
        from->close_when_idle() ? platform::monotonic_ns() + idle_close_ns : platform::no_deadline;
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
  reply answer;
  hmn::board shown;
  std::atomic<std::uint32_t> state{idle};
};

namespace {

std::uint64_t all_answered_by(const device_source& from) {
  std::uint64_t all = 0;
  for (std::uint32_t n = 0; n < 64; ++n) {
    const auto which = static_cast<source>(n);
    if (from.answers_for(which)) all |= bit_of(which);
  }
  return all;
}

}  // namespace

lane::lane(std::unique_ptr<device_source> from, const settings& s)
    : id_(from->id()),
      answers_for_(all_answered_by(*from)),
      threaded_(from->can_block() && !s.no_threads) {
  cell_ = std::make_shared<cell>(std::move(from), s);
}

lane::~lane() {
  if (!cell_ || !started_) return;
  cell_->state.fetch_or(quit_bit, std::memory_order_acq_rel);
  platform::wake_all(cell_->state);
}

bool lane::is_idle() const noexcept {
  return phase_of(cell_->state.load(std::memory_order_acquire)) == idle;
}

bool lane::is_opening() const noexcept {
  return phase_of(cell_->state.load(std::memory_order_acquire)) == opening;
}

board& lane::board() noexcept {
  return cell_->shown;
}

result<void> lane::probe() {
  return is_idle() ? cell_->from->probe() : result<void>();
}

void lane::abandon() noexcept {
  // Leaks on purpose: destructors of a driver's state could hang in a child.
  static_cast<void>(new (std::nothrow) std::shared_ptr<cell>(std::move(cell_)));
}

bool lane::start() {
  if (started_) return true;
  auto held = std::make_unique<std::shared_ptr<cell>>(cell_);
  const auto entry = [](void* argument) {
    const std::unique_ptr<std::shared_ptr<cell>> mine(
        static_cast<std::shared_ptr<cell>*>(argument));
    (*mine)->work();
  };
  if (platform::start_detached(entry, held.get(), "hmn") != 0) return false;
  held.release();
  started_ = true;
  return true;
}

lane::outcome lane::run(const plan& p, budget& b) {
  if (!is_idle()) return outcome::busy;
  if (!threaded_) return run_here(p, b);
  if (!start()) return outcome::no_thread;
  cell_->request = p;
  cell_->until = b.until();
  const std::uint32_t seen = cell_->state.load(std::memory_order_relaxed);
  const std::uint32_t next = (seen + one_posting) | posted;
  cell_->state.store(next, std::memory_order_release);
  platform::wake_one(cell_->state);
  return wait(next, b);
}

lane::outcome lane::wait(std::uint32_t word, budget& b) {
  std::uint64_t opening_since = 0;
  for (;;) {
    const std::uint32_t seen = cell_->state.load(std::memory_order_acquire);
    if (phase_of(seen) == opening && opening_since == 0) opening_since = platform::monotonic_ns();
    if (phase_of(seen) != opening && opening_since != 0) {
      b.charge_opening(platform::monotonic_ns() - opening_since);
      opening_since = 0;
    }
    if (phase_of(seen) == idle) return outcome::done;
    const std::uint64_t limit = opening_since != 0 ? opening_since + b.open_left() : b.until();
    word = seen;
    if (platform::wait_on(cell_->state, word, limit) == platform::wake::timed_out && !is_idle()) {
      if (opening_since != 0) b.charge_opening(platform::monotonic_ns() - opening_since);
      return outcome::late;
    }
  }
}

lane::outcome lane::run_here(const plan& p, budget& b) {
  cell_->request = p;
  cell_->until = b.until();
  cell_->carry_out();
  cell_->enter(idle);
  if (cell_->from->close_when_idle()) cell_->from->close();
  return outcome::done;
}

}  // namespace hmn
