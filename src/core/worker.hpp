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

// Queries one source, in a separate thread when the source can block, and keeps its answers. One
// caller at a time queries the source; the others wait in a queue, and share its answer if it
// serves them. A thread owns everything it uses, so that it can be left behind in a call that never
// returns. One that hangs in a call for one of several devices is set aside, and another serves the
// other devices until it returns. Safe for concurrent use by any number of threads.
class Worker {
 public:
  // `is_cancelled`: whether its callers may not wait, of the context.
  Worker(ListedSource listed, std::shared_ptr<HostSource> host, const Settings& s, const Limits& l,
         const std::atomic<bool>& is_cancelled);
  Worker(const Worker&) = delete;
  Worker& operator=(const Worker&) = delete;
  // Returns at once: the thread closes the source later.
  ~Worker();

  [[nodiscard]] Source id() const noexcept { return id_; }
  // Returns whether it reports the state of `which`: its own source, or one that this contains.
  [[nodiscard]] bool answers_for(Source which) const noexcept {
    return (answers_for_ & bit_of(which)) != 0;
  }
  [[nodiscard]] bool can_block() const noexcept { return is_threaded_; }
  // Returns false for a source that is known to be absent.
  [[nodiscard]] bool may_serve();
  // Returns whether a recent search has found that there is no such source.
  [[nodiscard]] bool is_absent(std::uint64_t now) const;
  // Bit n: not queried where source n has served.
  [[nodiscard]] std::uint64_t fallback_for() const noexcept { return fallback_for_; }

  // Queries the source, or reuses a recent answer, then passes the result to the visitor, which
  // runs under the lock. A late reading passes its partial results and earlier answers, one that is
  // cancelled passes nothing.
  using Visitor = FunctionRef<void(const SourceCache& known, const Moment& m)>;
  Result<void> run(const Plan& p, Deadline& d, Visitor visit);
  // Passes what is known, without a query.
  void show(Visitor visit, const Moment& m);

  // Wakes the callers that wait, after the context was cancelled.
  void wake() noexcept;

  // Leaks all state: in a forked child the thread does not exist.
  void abandon() noexcept;

 private:
  struct Desk;
  class Server;
  class Turn;
  enum class Outcome;
  using Lock = std::unique_lock<platform::Mutex>;

  [[nodiscard]] bool has_just_failed(std::uint64_t now) const noexcept;
  [[nodiscard]] bool is_present(std::uint64_t now, Lock& held);
  [[nodiscard]] Result<void> ask(const Plan& p, Deadline& d, std::uint64_t now, Lock& held);
  [[nodiscard]] Outcome carry_out(const Plan& p, Deadline& d, std::uint64_t now, Lock& held);
  [[nodiscard]] Outcome post(const Plan& p, Deadline& d, std::uint64_t now, std::uint64_t patience,
                             Lock& held);
  [[nodiscard]] Outcome wait(Deadline& d, std::uint64_t now, std::uint64_t patience, Lock& held);
  [[nodiscard]] bool is_first_opening() const noexcept;
  [[nodiscard]] bool set_aside(std::uint64_t now, std::uint64_t patience);
  void take_back();
  [[nodiscard]] bool must_not_wait(const Deadline& d, std::uint64_t now) const noexcept;
  [[nodiscard]] Failure why_late() const;

  const Settings& settings_;
  const Limits limits_;
  const std::uint64_t fallback_for_;
  const Source id_;
  const std::uint64_t answers_for_;
  const bool can_wait_;
  const bool is_threaded_;
  const std::atomic<bool>& is_cancelled_;
  std::shared_ptr<Desk> desk_;
  // The members below are guarded by the desk's mutex; those of the source belong to the first in
  // the queue.
  std::vector<const Turn*> queue_;
  std::shared_ptr<Server> current_;
  std::vector<std::shared_ptr<Server>> aside_;  // each in a call that has not returned
  std::uint64_t failed_search_ns_ = 0;          // time of the last search if it failed, else 0
  bool is_conclusive_ = false;                  // it has shown that there is no such source
  bool is_started_ = false;
  bool is_left_ = false;  // a cancelled caller has left the last reading before its time was over
};

}  // namespace hmn
