// SPDX-License-Identifier: MIT OR Apache-2.0
#pragma once

#ifndef _WIN32
#include <pthread.h>
#endif

#include <cstdint>
#include <mutex>  // std::lock_guard, std::unique_lock

namespace hmn::platform {

// The system's mutex, because mingw-w64's std::mutex allocates and throws; elsewhere it is the
// same. It has no destructor: a forked child may free one that a thread of its parent held.
class Mutex {
 public:
  constexpr Mutex() noexcept = default;
  Mutex(const Mutex&) = delete;
  Mutex& operator=(const Mutex&) = delete;

  void lock() noexcept;
  [[nodiscard]] bool try_lock() noexcept;
  void unlock() noexcept;

 private:
  friend class Condition;
#ifdef _WIN32
  void* native_ = nullptr;  // SRWLOCK
#else
  pthread_mutex_t native_ = PTHREAD_MUTEX_INITIALIZER;
#endif
};

// The system's condition variable, with deadlines in the time of monotonic_ns().
// std::condition_variable needs a newer libstdc++ for that, uses the wall clock in libc++, and
// waits in its destructor for threads that a forked child does not have.
class Condition {
 public:
  Condition() noexcept;
  Condition(const Condition&) = delete;
  Condition& operator=(const Condition&) = delete;

  // Sleeps until it is notified, at most until the deadline; may wake without a reason. Returns
  // false once the deadline has passed.
  bool wait_until(std::unique_lock<Mutex>& lock, std::uint64_t deadline_ns) noexcept;
  void notify_all() noexcept;

 private:
#ifdef _WIN32
  void* native_ = nullptr;  // CONDITION_VARIABLE
#else
  pthread_cond_t native_ = PTHREAD_COND_INITIALIZER;
#endif
#ifdef __linux__
  bool is_monotonic_ = false;  // else its clock is the wall's
#endif
};

}  // namespace hmn::platform
