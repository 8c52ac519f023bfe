// SPDX-License-Identifier: MIT OR Apache-2.0
//
// Every order in which two threads can reach the words of one account. A thread is identified by
// what its accesses gave so far: to make one step more, its operations run again with these, and
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

// What a thread has seen.
struct Outcome {
  std::uint64_t taken = 0;
  std::uint64_t given = 0;
  std::uint64_t highest_peak = 0;
  bool is_refused = false;
};

// The thread that runs now; without one, words are plain. An exception would take most of the time.
struct Running {
  explicit Running(Trail& t) : given(t) {}
  Trail& given;
  std::size_t next = 0;
  bool has_moved = false;
  Outcome seen;
  std::jmp_buf before{};
};
Running* now = nullptr;

template <class Do>
std::uint64_t access(Do&& act) {
  if (now == nullptr) return act();
  if (now->next == now->given.size()) {
    if (now->has_moved) std::longjmp(now->before, 1);
    now->has_moved = true;
    now->given.push_back(act());
  }
  return now->given[now->next++];
}

class Word {
 public:
  explicit Word(std::uint64_t value) : value_(value) {}

  std::uint64_t load() const {
    return access([&] { return value_; });
  }
  void store(std::uint64_t to) {
    static_cast<void>(access([&] { return std::exchange(value_, to); }));
  }
  bool compare_exchange_weak(std::uint64_t& expected, std::uint64_t to) {
    const std::uint64_t was = access(
        [&] { return value_ == expected ? std::exchange(value_, to) : std::uint64_t{value_}; });
    const bool same = was == expected;
    expected = was;
    return same;
  }

 private:
  std::uint64_t value_;
};

// Looked at in two steps, changed in one.
class Pair {
 public:
  explicit Pair(hmn::TwoWords value) : value_(value) {}

  hmn::TwoWords guess() const {
    const std::uint64_t first = access([&] { return value_.first; });
    return {first, access([&] { return value_.second; })};
  }
  bool compare_exchange(hmn::TwoWords& expected, hmn::TwoWords to) {
    const std::uint64_t was =
        access([&] { return code_of(value_ == expected ? std::exchange(value_, to) : value_); });
    const bool same = was == code_of(expected);
    expected = {was >> 32, was & 0xFFFFFFFF};
    return same;
  }
  [[nodiscard]] const hmn::TwoWords& value() const { return value_; }

 private:
  // What an access returns to a thread is one number.
  static std::uint64_t code_of(const hmn::TwoWords& of) { return of.first << 32 | of.second; }

  hmn::TwoWords value_;
};

using SteppedAccount = hmn::LimitedAccount<Pair, Word>;

enum class What { take, give, limit, read, clear };
struct Operation {
  What kind;
  std::uint64_t bytes = 0;
};
using Program = std::vector<Operation>;

void perform(const Operation& o, SteppedAccount& a, Outcome& seen) {
  bool is_done = true;
  if (o.kind == What::take && (is_done = a.take(o.bytes))) seen.taken += o.bytes;
  if (o.kind == What::give && (is_done = a.give(o.bytes))) seen.given += o.bytes;
  if (o.kind == What::limit) is_done = a.set_limit(o.bytes);
  if (!is_done) seen.is_refused = true;
  if (o.kind == What::clear) a.clear();
  if (o.kind != What::read) return;
  const hmn::LimitedValues f = a.read();
  if (f.bytes.allocated > f.limit) FAIL("more is allocated than the limit");
  if (f.bytes.peak < f.bytes.allocated) FAIL("the peak is below what is allocated");
  if (f.bytes.peak < seen.highest_peak) FAIL("the peak sank");
  seen.highest_peak = f.bytes.peak;
}

// As far as one access more.
void run(const Program& p, SteppedAccount& a, Running& thread) {
  now = &thread;
  if (setjmp(thread.before) == 0) {
    for (const Operation& o : p) perform(o, a, thread.seen);
  }
  now = nullptr;
}

constexpr std::uint64_t first_limit = 10;
constexpr std::uint64_t first_allocated = 3;

SteppedAccount beginning() {
  SteppedAccount a(first_limit);
  REQUIRE(a.take(first_allocated));
  return a;
}

struct Moment {
  SteppedAccount account = beginning();
  std::vector<Trail> trails;
  std::uint64_t most = first_allocated;  // that ever was allocated

  [[nodiscard]] std::uint64_t allocated() const { return account.now().value().first; }
  [[nodiscard]] std::uint64_t limit() const { return account.now().value().second; }
  // Bytes: hashed and compared by the C++ runtime, which no sanitizer slows down.
  [[nodiscard]] std::string key() const {
    const std::array<std::uint64_t, 5> values{limit(), allocated(), account.peak().load(), most,
                                              trails[0].size()};
    std::string k(bytes_of(values));
    for (const Trail& t : trails) k += bytes_of(t);
    return k;
  }

 private:
  static std::string_view bytes_of(std::span<const std::uint64_t> of) {
    return {reinterpret_cast<const char*>(of.data()), of.size_bytes()};
  }
};

class Explorer {
 public:
  explicit Explorer(std::vector<Program> threads) : threads_(std::move(threads)) {}

  // How many moments there are.
  std::size_t explore() {
    Moment first;
    first.trails.resize(threads_.size());
    visit(first);
    return seen_.size();
  }
  // In one of the orders.
  [[nodiscard]] bool has_refused() const { return has_refused_; }

 private:
  void visit(const Moment& m) {
    if (!seen_.insert(m.key()).second) return;
    check(m);
    bool is_over = true;
    Outcome all;
    for (std::size_t t = 0; t < threads_.size(); ++t) {
      Moment after = m;
      Running thread(after.trails[t]);
      run(threads_[t], after.account, thread);
      after.most = std::max(after.most, after.allocated());
      if (thread.has_moved) visit(after);
      all.taken += thread.seen.taken;
      all.given += thread.seen.given;
      is_over = is_over && !thread.has_moved;
      has_refused_ = has_refused_ || thread.seen.is_refused;
    }
    if (is_over) check_end(m, all);
  }

  // What holds at every instant.
  static void check(const Moment& m) {
    if (m.allocated() > m.limit()) FAIL("more is allocated than the limit");
    if (m.account.peak().load() > m.most) FAIL("the peak is higher than it ever was");
  }

  static void check_end(const Moment& m, const Outcome& all) {
    if (first_allocated + all.taken - all.given != m.allocated()) FAIL("miscounted");
    if (m.account.peak().load() != m.most) FAIL("the peak is not exact");
  }

  std::vector<Program> threads_;
  std::unordered_set<std::string> seen_;
  bool has_refused_ = false;
};

// All of three operations; of three different ones where all would take a minute.
std::vector<Program> programs_of(std::span<const Operation> all) {
  std::vector<Program> out;
  for (const Operation& a : all) {
    for (const Operation& b : all) {
      for (const Operation& c : all) {
        if (is_fast || (&a != &b && &b != &c && &c != &a)) out.push_back({a, b, c});
      }
    }
  }
  return out;
}

constexpr Operation take{What::take, 4};
constexpr Operation give{What::give, 3};
constexpr Operation lower{What::limit, 5};
constexpr Operation raise_limit{What::limit, 12};
constexpr Operation look{What::read};

}  // namespace

TEST_CASE("two threads with three operations each, in every order") {
  const Operation all[] = {take, give, lower, raise_limit};
  const std::vector<Program> programs = programs_of(all);
  std::size_t moments = 0;
  for (std::size_t i = 0; i < programs.size(); ++i) {
    for (std::size_t j = i; j < programs.size(); j += is_fast ? 1 : 4) {
      moments += Explorer({programs[i], programs[j]}).explore();
    }
  }
  CHECK(programs.size() == (is_fast ? 64 : 24));
  CHECK(moments > (is_fast ? 5'000'000 : 100'000));
}

TEST_CASE("one who looks never sees more than the limit, nor a peak that sinks") {
  const Operation all[] = {take, give, lower, raise_limit};
  for (const Program& p : programs_of(all)) {
    CHECK(Explorer({p, {look, look, look}}).explore() > 100);
  }
}

TEST_CASE("a peak that was seen is not lost when a third gives back before the first is done") {
  CHECK(Explorer({{take}, {give}, {look, look}}).explore() > 100);
  CHECK(Explorer({{take}, {give}, {lower, raise_limit}, {look}}).explore() > 100);
}

TEST_CASE("what fits at every instant is refused in no order") {
  const Operation lower_to_7{What::limit, 7};
  // 3 of 10, then of 7, then none, then none of 5: 4 always fit, but not together with the 3
  // of before under the limit of 5.
  Explorer sure({{take}, {lower_to_7, give, lower}});
  CHECK(sure.explore() > 20);
  CHECK_FALSE(sure.has_refused());
  Explorer unsure({{take}, {lower, give}});
  CHECK(unsure.explore() > 20);
  CHECK(unsure.has_refused());
}
