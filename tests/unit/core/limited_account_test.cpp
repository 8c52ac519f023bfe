// SPDX-License-Identifier: MIT OR Apache-2.0
//
// Every order in which two threads can access the words of one account. A thread is identified by
// the results of its accesses so far: for one more step its operations run again with these and
// stop before the access after the next.
#include "core/account.hpp"

#include <doctest/doctest.h>

#include <array>
#include <csetjmp>
#include <span>
#include <string>
#include <string_view>
#include <unordered_set>
#include <utility>
#include <vector>

namespace {

constexpr bool is_fast = HMN_TEST_SLOW == 0;

using Trail = std::vector<std::uint64_t>;

// What a thread has done and observed.
struct ThreadOutcome {
  std::uint64_t allocated = 0;
  std::uint64_t released = 0;
  std::uint64_t highest_peak = 0;
  bool is_refused = false;
};

// The thread that runs now; without one, words are plain. longjmp, as exceptions would be too slow.
struct ThreadRun {
  explicit ThreadRun(Trail& accesses) : trail(accesses) {}
  Trail& trail;
  std::size_t next = 0;
  bool has_moved = false;
  ThreadOutcome outcome;
  std::jmp_buf return_point{};
};
ThreadRun* current_run = nullptr;

template <class Do>
std::uint64_t access(Do&& action) {
  if (current_run == nullptr) return action();
  if (current_run->next == current_run->trail.size()) {
    if (current_run->has_moved) std::longjmp(current_run->return_point, 1);
    current_run->has_moved = true;
    current_run->trail.push_back(action());
  }
  return current_run->trail[current_run->next++];
}

class SteppedWord {
 public:
  explicit SteppedWord(std::uint64_t value) : value_(value) {}

  std::uint64_t load() const {
    return access([&] { return value_; });
  }
  void store(std::uint64_t value) {
    static_cast<void>(access([&] { return std::exchange(value_, value); }));
  }
  bool compare_exchange_weak(std::uint64_t& expected, std::uint64_t desired) {
    const std::uint64_t previous = access([&] {
      return value_ == expected ? std::exchange(value_, desired) : std::uint64_t{value_};
    });
    const bool is_equal = previous == expected;
    expected = previous;
    return is_equal;
  }

 private:
  std::uint64_t value_;
};

// Read in two steps, changed in one.
class SteppedPair {
 public:
  explicit SteppedPair(hmn::WordPair value) : value_(value) {}

  hmn::WordPair guess() const {
    const std::uint64_t first = access([&] { return value_.first; });
    return {first, access([&] { return value_.second; })};
  }
  bool compare_exchange(hmn::WordPair& expected, hmn::WordPair desired) {
    const std::uint64_t previous = access(
        [&] { return encode(value_ == expected ? std::exchange(value_, desired) : value_); });
    const bool is_equal = previous == encode(expected);
    expected = {previous >> 32, previous & 0xFFFFFFFF};
    return is_equal;
  }
  [[nodiscard]] const hmn::WordPair& value() const { return value_; }

 private:
  // What an access returns to a thread is one number.
  static std::uint64_t encode(const hmn::WordPair& words) {
    return words.first << 32 | words.second;
  }

  hmn::WordPair value_;
};

using SteppedAccount = hmn::LimitedAccount<SteppedPair, SteppedWord>;

enum class OperationKind { take, give, limit, read, clear };
struct Operation {
  OperationKind kind;
  std::uint64_t bytes = 0;
};
using Program = std::vector<Operation>;

void perform(const Operation& operation, SteppedAccount& account, ThreadOutcome& outcome) {
  bool is_done = true;
  if (operation.kind == OperationKind::take && (is_done = account.allocate(operation.bytes)))
    outcome.allocated += operation.bytes;
  if (operation.kind == OperationKind::give && (is_done = account.release(operation.bytes)))
    outcome.released += operation.bytes;
  if (operation.kind == OperationKind::limit) is_done = account.set_limit(operation.bytes);
  if (!is_done) outcome.is_refused = true;
  if (operation.kind == OperationKind::clear) account.clear();
  if (operation.kind != OperationKind::read) return;
  const hmn::LimitedValues values = account.read();
  if (values.bytes.allocated > values.limit) FAIL("more is allocated than the limit");
  if (values.bytes.peak < values.bytes.allocated) FAIL("the peak is below what is allocated");
  if (values.bytes.peak < outcome.highest_peak) FAIL("the peak sank");
  outcome.highest_peak = values.bytes.peak;
}

// Runs the thread for one more access.
void run(const Program& program, SteppedAccount& account, ThreadRun& thread) {
  current_run = &thread;
  if (setjmp(thread.return_point) == 0) {
    for (const Operation& operation : program) perform(operation, account, thread.outcome);
  }
  current_run = nullptr;
}

constexpr std::uint64_t first_limit = 10;
constexpr std::uint64_t first_allocated = 3;

SteppedAccount make_account() {
  SteppedAccount account(first_limit);
  REQUIRE(account.allocate(first_allocated));
  return account;
}

struct AccountState {
  SteppedAccount account = make_account();
  std::vector<Trail> trails;
  std::uint64_t max_allocated = first_allocated;  // ever

  [[nodiscard]] std::uint64_t allocated() const { return account.pair().value().first; }
  [[nodiscard]] std::uint64_t limit() const { return account.pair().value().second; }
  // Bytes: hashed and compared by the C++ runtime, which no sanitizer slows down.
  [[nodiscard]] std::string key() const {
    const std::array<std::uint64_t, 5> values{limit(), allocated(), account.peak().load(),
                                              max_allocated, trails[0].size()};
    std::string text(view_bytes(values));
    for (const Trail& trail : trails) text += view_bytes(trail);
    return text;
  }

 private:
  static std::string_view view_bytes(std::span<const std::uint64_t> values) {
    return {reinterpret_cast<const char*>(values.data()), values.size_bytes()};
  }
};

class Explorer {
 public:
  explicit Explorer(std::vector<Program> threads) : threads_(std::move(threads)) {}

  // Returns the number of distinct states.
  std::size_t explore() {
    AccountState start;
    start.trails.resize(threads_.size());
    visit(start);
    return visited_.size();
  }
  // Returns whether an operation was refused in any order.
  [[nodiscard]] bool has_refused() const { return has_refused_; }

 private:
  void visit(const AccountState& state) {
    if (!visited_.insert(state.key()).second) return;
    check(state);
    bool is_over = true;
    ThreadOutcome total;
    for (std::size_t t = 0; t < threads_.size(); ++t) {
      AccountState after = state;
      ThreadRun thread(after.trails[t]);
      run(threads_[t], after.account, thread);
      after.max_allocated = std::max(after.max_allocated, after.allocated());
      if (thread.has_moved) visit(after);
      total.allocated += thread.outcome.allocated;
      total.released += thread.outcome.released;
      is_over = is_over && !thread.has_moved;
      has_refused_ = has_refused_ || thread.outcome.is_refused;
    }
    if (is_over) check_end(state, total);
  }

  // Checks what must hold at every instant.
  static void check(const AccountState& state) {
    if (state.allocated() > state.limit()) FAIL("more is allocated than the limit");
    if (state.account.peak().load() > state.max_allocated)
      FAIL("the peak is higher than it ever was");
  }

  static void check_end(const AccountState& state, const ThreadOutcome& total) {
    if (first_allocated + total.allocated - total.released != state.allocated()) FAIL("miscounted");
    if (state.account.peak().load() != state.max_allocated) FAIL("the peak is not exact");
  }

  std::vector<Program> threads_;
  std::unordered_set<std::string> visited_;
  bool has_refused_ = false;
};

// All sequences of three operations; only of different ones where all would take a minute.
std::vector<Program> list_programs(std::span<const Operation> operations) {
  std::vector<Program> programs;
  for (const Operation& first : operations) {
    for (const Operation& second : operations) {
      for (const Operation& third : operations) {
        if (is_fast || (&first != &second && &second != &third && &third != &first))
          programs.push_back({first, second, third});
      }
    }
  }
  return programs;
}

constexpr Operation take{OperationKind::take, 4};
constexpr Operation give{OperationKind::give, 3};
constexpr Operation lower{OperationKind::limit, 5};
constexpr Operation raise_limit{OperationKind::limit, 12};
constexpr Operation observe{OperationKind::read};

}  // namespace

TEST_CASE("two threads with three operations each stay consistent in every order") {
  const Operation operations[] = {take, give, lower, raise_limit};
  const std::vector<Program> programs = list_programs(operations);
  std::size_t state_count = 0;
  for (std::size_t i = 0; i < programs.size(); ++i) {
    for (std::size_t j = i; j < programs.size(); j += is_fast ? 1 : 4) {
      state_count += Explorer({programs[i], programs[j]}).explore();
    }
  }
  CHECK(programs.size() == (is_fast ? 64 : 24));
  CHECK(state_count > (is_fast ? 5'000'000 : 100'000));
}

TEST_CASE("a reader never sees more than the limit or a sinking peak") {
  const Operation operations[] = {take, give, lower, raise_limit};
  for (const Program& program : list_programs(operations)) {
    CHECK(Explorer({program, {observe, observe, observe}}).explore() > 100);
  }
}

TEST_CASE("an observed peak is kept when another thread frees memory before the first is done") {
  CHECK(Explorer({{take}, {give}, {observe, observe}}).explore() > 100);
  CHECK(Explorer({{take}, {give}, {lower, raise_limit}, {observe}}).explore() > 100);
}

TEST_CASE("an allocation that fits at every instant is never refused") {
  const Operation lower_to_7{OperationKind::limit, 7};
  // Allocated are 3 of 10, 3 of 7, 0 of 7, 0 of 5: 4 always fit, but not together with the
  // first 3 under the limit of 5.
  Explorer certain({{take}, {lower_to_7, give, lower}});
  CHECK(certain.explore() > 20);
  CHECK_FALSE(certain.has_refused());
  Explorer uncertain({{take}, {lower, give}});
  CHECK(uncertain.explore() > 20);
  CHECK(uncertain.has_refused());
}
