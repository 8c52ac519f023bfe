// SPDX-License-Identifier: MIT OR Apache-2.0
#pragma once

#include <cstdint>
#include <memory>

#include "core/board.hpp"
#include "core/limits.hpp"
#include "core/reply.hpp"

namespace hmn {

// The way to one source: one reading at a time, on a worker thread when the source can block. The
// worker owns all that it touches, so that it can be left behind in a call that never returns.
// Callers serialise run(); only one of them may be inside.
class lane {
 public:
  enum class outcome {
    done,       // the board has all of this reading
    late,       // the deadline passed; the board has what was reached, and gets the rest later
    busy,       // an earlier reading has still not come back
    no_thread,  // no worker could be started
  };

  lane(std::unique_ptr<device_source> from, const settings& s);
  lane(const lane&) = delete;
  lane& operator=(const lane&) = delete;
  // Waits for nothing: the worker closes the source in its own time.
  ~lane();

  [[nodiscard]] outcome run(const plan& p, budget& b);
  // True when no reading is under way.
  [[nodiscard]] bool is_idle() const noexcept;
  // Whether the reading under way is still opening its library.
  [[nodiscard]] bool is_opening() const noexcept;
  [[nodiscard]] hmn::board& board() noexcept;
  [[nodiscard]] source id() const noexcept { return id_; }
  [[nodiscard]] bool answers_for(source which) const noexcept {
    return (answers_for_ & bit_of(which)) != 0;
  }
  [[nodiscard]] bool can_block() const noexcept { return threaded_; }
  // probe() of the source, unless it is at work.
  [[nodiscard]] result<void> probe();
  // In a forked child: forget everything, free nothing, the worker does not exist here.
  void abandon() noexcept;

 private:
  struct cell;
  bool start();
  outcome wait(std::uint32_t posted, budget& b);
  outcome run_here(const plan& p, budget& b);

  std::shared_ptr<cell> cell_;
  source id_;
  std::uint64_t answers_for_;
  bool threaded_;
  bool started_ = false;
};

}  // namespace hmn
