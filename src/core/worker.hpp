// SPDX-License-Identifier: MIT OR Apache-2.0
#pragma once

#include <atomic>
#include <cstdint>
#include <memory>
#include <mutex>
#include <vector>

#include "core/answer.hpp"
#include "core/limits.hpp"
#include "model/function_ref.hpp"
#include "platform/mutex.hpp"
#include "source/registry.hpp"

namespace hmn {

// Queries one source, in a separate thread if the source can block, and caches its answers. One
// caller at a time queries the source; the others wait in a queue, and share its answer if it
// serves them. A thread owns everything it uses, so that it can be abandoned in a call that never
// returns. One that hangs in a call for one of several devices is set aside, and another serves the
// other devices until it returns. Safe for concurrent use by any number of threads.
class Worker {
 public:
  // `is_cancelled`: the context's flag; while it is set, callers may not wait.
  Worker(SourceEntry entry, std::shared_ptr<HostSource> host, const Settings& settings,
         const Limits& limits, const std::atomic<bool>& is_cancelled);
  Worker(const Worker&) = delete;
  Worker& operator=(const Worker&) = delete;
  // Returns at once: the thread closes the source later.
  ~Worker();

  [[nodiscard]] Source id() const noexcept { return id_; }
  // Returns whether it reports the state of `source`: its own source, or one that this contains.
  [[nodiscard]] bool answers_for(Source source) const noexcept {
    return (answered_sources_ & source_bit(source)) != 0;
  }
  [[nodiscard]] bool can_block() const noexcept { return is_threaded_; }
  // Returns false for a source that is known to be absent.
  [[nodiscard]] bool may_be_present();
  // Returns whether a recent search has found that there is no such source.
  [[nodiscard]] bool is_absent(std::uint64_t now) const;
  // Bit n: not queried where source n has served.
  [[nodiscard]] std::uint64_t fallback_for() const noexcept { return fallback_for_; }

  // Queries the source, or reuses a recent answer, then passes the result to the visitor, which
  // runs under the lock. A late reading passes its partial results and earlier answers, one that is
  // cancelled passes nothing.
  using Visitor = FunctionRef<void(const SourceCache& cache, const Freshness& freshness)>;
  Result<void> run(const Plan& plan, Deadline& deadline, Visitor visit);
  // Passes the cached answers, without a query.
  void visit_cache(Visitor visit, const Freshness& freshness);

  // Wakes the callers that wait, after the context was cancelled.
  void wake() noexcept;

  // Leaks all state: in a forked child the thread does not exist.
  void abandon() noexcept;

 private:
  struct SharedState;
  class WorkerThread;
  class QueueTicket;
  enum class Outcome;
  using Lock = std::unique_lock<platform::Mutex>;

  [[nodiscard]] bool has_just_failed(std::uint64_t now) const noexcept;
  [[nodiscard]] bool check_presence(std::uint64_t now, Lock& lock);
  [[nodiscard]] Result<void> query_source(const Plan& plan, Deadline& deadline, std::uint64_t now,
                                          Lock& lock);
  [[nodiscard]] Outcome carry_out(const Plan& plan, Deadline& deadline, std::uint64_t now,
                                  Lock& lock);
  [[nodiscard]] Outcome post(const Plan& plan, Deadline& deadline, std::uint64_t now,
                             std::uint64_t patience, Lock& lock);
  [[nodiscard]] Outcome wait(Deadline& deadline, std::uint64_t now, std::uint64_t patience,
                             Lock& lock);
  [[nodiscard]] bool is_first_opening() const noexcept;
  [[nodiscard]] bool set_aside(std::uint64_t now, std::uint64_t patience);
  void drop_returned_threads();
  [[nodiscard]] bool must_not_wait(const Deadline& deadline, std::uint64_t now) const noexcept;
  [[nodiscard]] Failure make_late_failure() const;

  const Settings& settings_;
  const Limits limits_;
  const std::uint64_t fallback_for_;
  const Source id_;
  const std::uint64_t answered_sources_;
  const bool can_wait_;
  const bool is_threaded_;
  const std::atomic<bool>& is_cancelled_;
  std::shared_ptr<SharedState> shared_state_;
  // The members below are guarded by the shared state's mutex; those of the source belong to the
  // first in the queue.
  std::vector<const QueueTicket*> queue_;
  std::shared_ptr<WorkerThread> current_thread_;
  std::vector<std::shared_ptr<WorkerThread>> hung_threads_;  // each in a call that has not returned
  std::uint64_t failed_search_ns_ = 0;  // time of the last search if it failed, else 0
  bool is_absence_proven_ = false;      // the last search has shown that there is no such source
  bool is_started_ = false;
  // A cancelled caller stopped waiting for the last reading before its deadline.
  bool is_unattended_ = false;
};

}  // namespace hmn
