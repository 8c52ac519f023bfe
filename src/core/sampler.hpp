// SPDX-License-Identifier: MIT OR Apache-2.0
#pragma once

#include <cstdint>
#include <memory>
#include <optional>

#include "core/context.hpp"
#include "core/latest_board.hpp"
#include "core/peaks.hpp"

namespace hmn {

struct sampling {
  std::uint64_t interval_ns = 0;
  std::uint64_t process_interval_ns = 0;
  std::uint32_t capacity = 0;
  bool peaks_only = false;
};

// HMN_SAMPLER_* of the C interface; src/api asserts it.
enum class sampler_state : std::uint32_t {
  idle = HMN_SAMPLER_STATE_IDLE,
  running = HMN_SAMPLER_STATE_RUNNING,
  stopped = HMN_SAMPLER_STATE_STOPPED,
};

struct sampler_report {
  sampler_state state = sampler_state::idle;
  std::uint32_t pending = 0;
  std::uint64_t taken = 0;
  std::uint64_t dropped = 0;
  std::uint64_t late = 0;
  std::uint64_t failed = 0;
  std::optional<std::uint64_t> last_monotonic_ns;
  status last_status = status::ok;
};

// Thread that takes snapshots on a schedule. It owns everything it uses, so that it can be
// abandoned in a driver call. Safe for concurrent use by any number of threads.
class sampler {
 public:
  sampler(std::shared_ptr<context> from, const sampling& how, const snapshot_request& what);
  sampler(const sampler&) = delete;
  sampler& operator=(const sampler&) = delete;
  ~sampler();

  // Returns whether this process is a fork of the one that made the sampler. Takes no lock.
  [[nodiscard]] bool is_forked() const noexcept;

  result<void> start();
  result<void> stop();
  result<std::unique_ptr<snapshot>> next(std::uint64_t timeout_ns);
  // Returns a descriptor or handle that is ready whenever next() would not wait.
  result<std::int64_t> handle();
  [[nodiscard]] sampler_report report() const;

  [[nodiscard]] const latest_board& latest() const noexcept;
  // Returns false for an unknown device and an empty `out` for an unknown process. pid 0 is the
  // device.
  bool find_peak(std::uint32_t device_index, std::uint32_t pid, std::optional<peak>& out) const;

 private:
  struct core;
  std::shared_ptr<core> core_;
};

}  // namespace hmn
