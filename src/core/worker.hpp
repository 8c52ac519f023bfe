// SPDX-License-Identifier: MIT OR Apache-2.0
#pragma once

#include <atomic>
#include <cstdint>
#include <memory>
#include <vector>

#include "backends/registry.hpp"
#include "core/answer.hpp"
#include "core/freshness.hpp"
#include "core/limits.hpp"
#include "model/function_ref.hpp"
#include "platform/turn.hpp"

namespace hmn {

// Queries one source, in a separate thread when the source can block, and keeps its answers. The
// thread owns everything it uses, so that it can be abandoned in a call that never returns. One
// that hangs in a call for one of several devices is set aside, and another serves the others until
// it returns. Safe for concurrent use by any number of threads.
class worker {
 public:
  worker(listed_source listed, const settings& s, const limits& l);
  worker(const worker&) = delete;
  worker& operator=(const worker&) = delete;
  // Returns at once: the thread closes the source later.
  ~worker();

  [[nodiscard]] source id() const noexcept { return id_; }
  // Returns whether it reports the state of this source: its own, or one that it contains.
  [[nodiscard]] bool answers_for(source which) const noexcept {
    return (answers_for_ & bit_of(which)) != 0;
  }
  [[nodiscard]] bool can_block() const noexcept { return is_threaded_; }
  // Returns whether the source is not known to be absent.
  [[nodiscard]] bool may_serve();
  // Returns whether a search has just found that there is no such source. Waits for no turn.
  [[nodiscard]] bool is_absent(std::uint64_t now) const;
  // Bit n: not queried where source n has served.
  [[nodiscard]] std::uint64_t fallback_for() const noexcept { return fallback_for_; }
  // telemetry_field bits that it may add to what those sources served; 0: it adds nothing.
  [[nodiscard]] std::uint32_t fills() const noexcept { return fills_; }

  // Queries the source, or reuses a recent answer, then passes the result to the visitor. A late
  // reading passes its partial results and earlier answers.
  using visitor = function_ref<void(const source_answer& known, const moment& m)>;
  result<void> run(const plan& p, deadline& d, visitor visit);
  // Passes what is known, without a query.
  void show(visitor visit, const moment& m);

  // Drops all state without freeing it: in a forked child the thread does not exist.
  void abandon() noexcept;

 private:
  class shared_answer;
  struct shared_state;
  enum class outcome;
  enum class lateness { plain, opening, locked };

  [[nodiscard]] bool is_answered_since(std::uint64_t since, std::uint64_t arrived, const plan& p);
  [[nodiscard]] bool share(const plan& p, std::uint64_t arrived, visitor visit,
                           result<void>& ended);
  [[nodiscard]] bool is_idle() const noexcept;
  [[nodiscard]] bool is_opening() const noexcept;
  [[nodiscard]] bool is_first_opening() const noexcept;
  [[nodiscard]] bool must_probe();
  [[nodiscard]] bool has_just_failed(std::uint64_t now) const noexcept;
  [[nodiscard]] bool is_present(std::uint64_t now);
  [[nodiscard]] result<void> ask(const plan& p, deadline& d, std::uint64_t now);
  [[nodiscard]] result<void> show_last(visitor visit, std::uint64_t since);
  void judge_lateness();
  [[nodiscard]] failure why_late() const;
  [[nodiscard]] outcome carry_out(const plan& p, deadline& d, std::uint64_t now);
  [[nodiscard]] outcome post(const plan& p, deadline& d, std::uint64_t now, std::uint64_t patience);
  [[nodiscard]] outcome wait(deadline& d, std::uint64_t now, std::uint64_t patience);
  [[nodiscard]] bool is_stuck(std::uint64_t patience);
  [[nodiscard]] bool set_aside();
  void take_back();
  [[nodiscard]] static bool start_thread(const std::shared_ptr<shared_state>& state);

  const settings& settings_;
  limits limits_;
  std::uint64_t fallback_for_;
  std::uint32_t fills_;
  platform::turns turns_;  // one caller at a time
  plan last_;              // that was asked for
  source id_;
  std::uint64_t answers_for_ = 0;
  bool is_threaded_;
  bool is_started_ = false;
  std::atomic<std::uint64_t> failed_search_ns_{0};  // time of the last search if it failed, else 0
  std::atomic<bool> is_conclusive_{false};          // it has shown that there is no such source
  std::shared_ptr<shared_answer> known_;
  std::shared_ptr<shared_state> shared_;
  std::vector<std::shared_ptr<shared_state>> aside_;  // each in a call that has not returned
  std::uint32_t seen_ = 0;                            // where the reading was at the last look
  std::uint64_t since_ns_ = 0;
  std::atomic<lateness> lateness_{lateness::plain};
};

}  // namespace hmn
