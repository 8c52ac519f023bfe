// SPDX-License-Identifier: MIT OR Apache-2.0
//
// Every order in which two threads can reach the words of one account. A thread is told by what its
// accesses gave so far: to make one step more, its operations run anew with these, and stop before
// the access after the next.
#include "core/limited_account.hpp"

#include <doctest/doctest.h>

#include <csetjmp>
#include <set>
#include <span>
#include <utility>
#include <vector>

namespace {

#if defined(__OPTIMIZE__) && !defined(__SANITIZE_ADDRESS__) && !defined(__SANITIZE_THREAD__)
constexpr bool is_fast = true;
#else
constexpr bool is_fast = false;
#endif

using trail = std::vector<std::uint64_t>;

// What a thread has seen.
struct outcome {
  std::uint64_t taken = 0;
  std::uint64_t given = 0;
  std::uint64_t highest_peak = 0;
};

// The thread that runs now; without one, words are plain. An exception would take most of the time.
struct running {
  explicit running(trail& t) : given(t) {}
  trail& given;
  std::size_t next = 0;
  bool has_moved = false;
  outcome seen;
  std::jmp_buf before{};
};
running* now = nullptr;

class word {
 public:
  explicit word(std::uint64_t value) : value_(value) {}

  std::uint64_t load() const {
    return access([&] { return value_; });
  }
  std::uint64_t fetch_add(std::uint64_t more) {
    return access([&] { return change(value_ + more); });
  }
  std::uint64_t exchange(std::uint64_t to) {
    return access([&] { return change(to); });
  }
  void store(std::uint64_t to) { static_cast<void>(exchange(to)); }
  bool compare_exchange_strong(std::uint64_t& expected, std::uint64_t to) {
    const std::uint64_t was =
        access([&] { return value_ == expected ? change(to) : std::uint64_t{value_}; });
    const bool same = was == expected;
    expected = was;
    return same;
  }
  bool compare_exchange_weak(std::uint64_t& expected, std::uint64_t to) {
    return compare_exchange_strong(expected, to);
  }

 private:
  std::uint64_t change(std::uint64_t to) {
    const std::uint64_t was = value_;
    value_ = to;
    return was;
  }
  template <class Do>
  static std::uint64_t access(Do&& act) {
    if (now == nullptr) return act();
    if (now->next == now->given.size()) {
      if (now->has_moved) std::longjmp(now->before, 1);
      now->has_moved = true;
      now->given.push_back(act());
    }
    return now->given[now->next++];
  }

  std::uint64_t value_;
};

using stepped_account = hmn::limited_account<word>;

enum class what { take, give, limit, read, clear };
struct operation {
  what kind;
  std::uint64_t bytes = 0;
};
using program = std::vector<operation>;

void perform(const operation& o, stepped_account& a, outcome& seen) {
  if (o.kind == what::take && a.take(o.bytes)) seen.taken += o.bytes;
  if (o.kind == what::give && a.give(o.bytes)) seen.given += o.bytes;
  if (o.kind == what::limit) static_cast<void>(a.set_limit(o.bytes));
  if (o.kind == what::clear) a.clear();
  if (o.kind != what::read) return;
  const hmn::limited_figures f = a.read();
  if (f.bytes.allocated > f.limit) FAIL("more is allocated than the limit");
  if (f.bytes.peak < f.bytes.allocated) FAIL("the peak is below what is allocated");
  if (f.bytes.peak < seen.highest_peak) FAIL("the peak sank");
  seen.highest_peak = f.bytes.peak;
}

// As far as one access more.
void run(const program& p, stepped_account& a, running& thread) {
  now = &thread;
  if (setjmp(thread.before) == 0) {
    for (const operation& o : p) perform(o, a, thread.seen);
  }
  now = nullptr;
}

constexpr std::uint64_t first_limit = 10;
constexpr std::uint64_t first_allocated = 3;

stepped_account beginning() {
  stepped_account a(first_limit);
  REQUIRE(a.take(first_allocated));
  return a;
}

struct moment {
  stepped_account account = beginning();
  std::vector<trail> trails;
  std::uint64_t most = first_allocated;  // that ever was allocated

  [[nodiscard]] trail key() const {
    trail k{account.free().load(),
            account.limit().load(),
            account.used().allocated().load(),
            account.used().peak().load(),
            most,
            trails[0].size()};
    for (const trail& t : trails) k.insert(k.end(), t.begin(), t.end());
    return k;
  }
};

class explorer {
 public:
  explicit explorer(std::vector<program> threads) : threads_(std::move(threads)) {}

  // How many moments there are.
  std::size_t explore() {
    moment first;
    first.trails.resize(threads_.size());
    visit(first);
    return seen_.size();
  }

 private:
  void visit(const moment& m) {
    if (!seen_.insert(m.key()).second) return;
    check(m);
    bool is_over = true;
    outcome all;
    for (std::size_t t = 0; t < threads_.size(); ++t) {
      moment after = m;
      running thread(after.trails[t]);
      run(threads_[t], after.account, thread);
      after.most = std::max(after.most, after.account.used().allocated().load());
      if (thread.has_moved) visit(after);
      all.taken += thread.seen.taken;
      all.given += thread.seen.given;
      is_over = is_over && !thread.has_moved;
    }
    if (is_over) check_end(m, all);
  }

  // What holds at every instant.
  static void check(const moment& m) {
    const std::uint64_t allocated = m.account.used().allocated().load();
    const std::uint64_t limit = m.account.limit().load();
    if (allocated > limit) FAIL("more is allocated than the limit");
    if (m.account.free().load() > limit - allocated) FAIL("more is free than there is");
    if (m.account.used().peak().load() > m.most) FAIL("the peak is higher than it ever was");
  }

  static void check_end(const moment& m, const outcome& all) {
    const std::uint64_t allocated = m.account.used().allocated().load();
    if (m.account.free().load() + allocated != m.account.limit().load()) FAIL("bytes were lost");
    if (first_allocated + all.taken - all.given != allocated) FAIL("miscounted");
    if (m.account.used().peak().load() != m.most) FAIL("the peak is not exact");
  }

  std::vector<program> threads_;
  std::set<trail> seen_;
};

// All of three operations; of three different ones where all would take a minute.
std::vector<program> programs_of(std::span<const operation> all) {
  std::vector<program> out;
  for (const operation& a : all) {
    for (const operation& b : all) {
      for (const operation& c : all) {
        if (is_fast || (&a != &b && &b != &c && &c != &a)) out.push_back({a, b, c});
      }
    }
  }
  return out;
}

constexpr operation take{what::take, 4};
constexpr operation give{what::give, 3};
constexpr operation lower{what::limit, 5};
constexpr operation raise_limit{what::limit, 12};
constexpr operation look{what::read};

}  // namespace

TEST_CASE("two threads with three operations each, in every order") {
  const operation all[] = {take, give, lower, raise_limit};
  const std::vector<program> programs = programs_of(all);
  std::size_t moments = 0;
  for (std::size_t i = 0; i < programs.size(); ++i) {
    for (std::size_t j = i; j < programs.size(); ++j) {
      moments += explorer({programs[i], programs[j]}).explore();
    }
  }
  CHECK(programs.size() == (is_fast ? 64 : 24));
  CHECK(moments > (is_fast ? 5'000'000 : 500'000));
}

TEST_CASE("one who looks never sees more than the limit, nor a peak that sinks") {
  const operation all[] = {take, give, lower, raise_limit};
  for (const program& p : programs_of(all)) {
    CHECK(explorer({p, {look, look, look}}).explore() > 100);
  }
}

TEST_CASE("a peak that was seen is not lost when a third gives back before the first is done") {
  CHECK(explorer({{take}, {give}, {look, look}}).explore() > 100);
  CHECK(explorer({{take}, {give}, {lower, raise_limit}, {look}}).explore() > 100);
}
