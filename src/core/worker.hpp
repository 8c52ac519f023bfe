// SPDX-License-Identifier: MIT OR Apache-2.0
#pragma once

#include <cstdint>
#include <memory>

#include "backends/registry.hpp"
#include "core/answer.hpp"
#include "core/freshness.hpp"
#include "core/limits.hpp"
#include "core/timed_lock.hpp"
#include "model/function_ref.hpp"

namespace hmn {

// Queries one source, on a thread of its own when the source can block, and keeps what it answered.
// The thread owns all that it touches, so that it can be left behind in a call that never returns.
// Any number of threads may use a worker at once.
class worker {
 public:
  worker(listed_source listed, const settings& s, const limits& l);
  worker(const worker&) = delete;
  worker& operator=(const worker&) = delete;
  // Waits for nothing: the thread closes the source in its own time.
  ~worker();

  [[nodiscard]] source id() const noexcept { return id_; }
  // Whether it reports the state of this source: its own, or one that it contains.
  [[nodiscard]] bool answers_for(source which) const noexcept {
    return (answers_for_ & bit_of(which)) != 0;
  }
  [[nodiscard]] bool can_block() const noexcept { return is_threaded_; }
  // Bit n: not queried where source n has served.
  [[nodiscard]] std::uint64_t stands_in_for() const noexcept { return stands_in_for_; }

  // Queries the source, or takes what is young enough, then shows what is known. A reading that is
  // late shows what was reached in time, and earlier answers.
  using visitor = function_ref<void(const source_answer& known, const moment& m)>;
  result<void> run(const plan& p, deadline& d, visitor visit);

  // In a forked child: forgets everything and frees nothing, since the thread does not exist here.
  void abandon() noexcept;

 private:
  class shared_answer;
  struct shared_state;
  enum class outcome;

  void show(visitor visit, const moment& m);
  [[nodiscard]] bool is_young_enough(const plan& p, std::uint64_t now);
  [[nodiscard]] bool is_idle() const noexcept;
  [[nodiscard]] bool is_opening() const noexcept;
  [[nodiscard]] bool must_probe();
  [[nodiscard]] bool is_present(std::uint64_t now);
  [[nodiscard]] result<void> ask(const plan& p, deadline& d, std::uint64_t now);
  [[nodiscard]] result<void> outcome_of_last();
  [[nodiscard]] failure why_late(bool is_opening) const;
  [[nodiscard]] outcome post(const plan& p, deadline& d);
  [[nodiscard]] outcome wait(std::uint32_t posted, deadline& d);
  bool start_thread();

  limits limits_;
  std::uint64_t stands_in_for_;
  timed_lock turn_;  // one caller at a time
  std::shared_ptr<shared_state> shared_;
  source id_;
  std::uint64_t answers_for_ = 0;
  bool is_threaded_;
  bool is_started_ = false;
  std::uint64_t absent_since_ns_ = 0;  // when it was looked for in vain; 0: it was not
};

}  // namespace hmn
