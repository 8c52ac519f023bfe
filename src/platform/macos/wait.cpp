// SPDX-License-Identifier: MIT OR Apache-2.0
#include "platform/wait.hpp"

#include <pthread.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <memory>
#include <new>

#include "platform/clock.hpp"
#include "platform/fork.hpp"

namespace hmn::platform {
namespace {

// Condition variable shared by several words. The public call that sleeps on a word came with macOS
// 14.4, and earlier has no deadline of this clock.
struct bucket {
  pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;
  pthread_cond_t changed = PTHREAD_COND_INITIALIZER;
};

// Buckets of one process. A forked child has its own: a thread that it lacks may hold a mutex of
// the parent's.
struct table {
  explicit table(uint64_t of) noexcept : generation(of) {}

  const uint64_t generation;
  std::array<bucket, 16> buckets;
};

constinit std::atomic<table*> current{nullptr};
constinit std::atomic<uint32_t> waiting_threads{0};  // includes forked threads

constexpr uint64_t longest_step = uint64_t{86400} * ns_per_second;
constexpr uint64_t poll_interval = ns_per_ms;

table* table_in_use() noexcept {
  table* const known = current.load(std::memory_order_acquire);
  return known != nullptr && known->generation == process_generation() ? known : nullptr;
}

// Returns nullptr when out of memory. A parent's table is left alone: the child may not destroy
// what others hold.
table* own_table() noexcept {
  table* known = current.load(std::memory_order_acquire);
  const uint64_t generation = process_generation();
  if (known != nullptr && known->generation == generation) return known;
  std::unique_ptr<table> made(new (std::nothrow) table(generation));
  if (made == nullptr) return nullptr;
  if (current.compare_exchange_strong(known, made.get(), std::memory_order_acq_rel)) {
    return made.release();
  }
  return known;
}

bucket& bucket_of(table& all, const std::atomic<uint32_t>& word) noexcept {
  return all.buckets[reinterpret_cast<uintptr_t>(&word) / 64 % all.buckets.size()];
}

class bucket_lock {
 public:
  explicit bucket_lock(bucket& b) noexcept : mutex_(b.mutex) { pthread_mutex_lock(&mutex_); }
  bucket_lock(const bucket_lock&) = delete;
  bucket_lock& operator=(const bucket_lock&) = delete;
  ~bucket_lock() { pthread_mutex_unlock(&mutex_); }

 private:
  pthread_mutex_t& mutex_;
};

// Registers a waiter before it reads the word: a thread that stores the word and then finds no
// waiter is known to have stored it in time.
class counted_waiter {
 public:
  counted_waiter() noexcept { waiting_threads.fetch_add(1, std::memory_order_acq_rel); }
  counted_waiter(const counted_waiter&) = delete;
  counted_waiter& operator=(const counted_waiter&) = delete;
  ~counted_waiter() { waiting_threads.fetch_sub(1, std::memory_order_relaxed); }
};

void sleep_in(bucket& b, uint64_t ns) noexcept {
  const timespec limit{static_cast<time_t>(ns / ns_per_second),
                       static_cast<long>(ns % ns_per_second)};
  pthread_cond_timedwait_relative_np(&b.changed, &b.mutex, &limit);
}

// Calls `sleep` with this time limit.
template <class F>
wake wait_by(const std::atomic<uint32_t>& word, uint32_t expected, uint64_t deadline_ns,
             F&& sleep) {
  while (word.load(std::memory_order_acquire) == expected) {
    const uint64_t now = monotonic_ns();
    if (now >= deadline_ns) return wake::timed_out;
    sleep(std::min(deadline_ns - now, longest_step));
  }
  return wake::changed;
}

}  // namespace

wake wait_on(std::atomic<uint32_t>& word, uint32_t expected, uint64_t deadline_ns) noexcept {
  if (word.load(std::memory_order_acquire) != expected) return wake::changed;
  table* const all = own_table();
  if (all == nullptr) {
    return wait_by(word, expected, deadline_ns,
                   [](uint64_t left) { sleep_ns(std::min(left, poll_interval)); });
  }
  const counted_waiter counted;
  bucket& b = bucket_of(*all, word);
  const bucket_lock held(b);
  return wait_by(word, expected, deadline_ns, [&b](uint64_t left) { sleep_in(b, left); });
}

// Wakes all waiters: those of other words share the bucket.
void wake_all(std::atomic<uint32_t>& word) noexcept {
  if (waiting_threads.fetch_add(0, std::memory_order_acq_rel) == 0) return;
  table* const all = table_in_use();
  if (all == nullptr) return;
  bucket& b = bucket_of(*all, word);
  { const bucket_lock held(b); }  // a waiter that has read the word sleeps by now
  pthread_cond_broadcast(&b.changed);
}

void wake_one(std::atomic<uint32_t>& word) noexcept {
  wake_all(word);
}

}  // namespace hmn::platform
