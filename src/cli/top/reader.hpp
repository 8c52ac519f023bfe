// SPDX-License-Identifier: MIT OR Apache-2.0
#pragma once
#include <chrono>
#include <functional>
#include <memory>
#include <optional>
#include <string>

#include "cli/measure/session.hpp"
#include "cli/top/reading.hpp"

namespace hmn::cli::top {

struct reader_settings {
  std::chrono::milliseconds interval{1000};
  std::chrono::milliseconds process_interval{1000};  // of the process list, which costs most
  std::chrono::milliseconds deadline{1000};          // of one reading
  std::optional<std::uint32_t> device;               // only this one, with its partitions
  std::optional<std::string> user;                   // only this user's processes
};

// Thread that reads the machine at an interval, so that drawing and keys never wait for a driver.
class reader {
 public:
  // Calls `on_new` in its thread after each reading.
  reader(const session& in, const reader_settings& how, std::function<void()> on_new = {});
  reader(const reader&) = delete;
  reader& operator=(const reader&) = delete;
  // Waits for no driver.
  ~reader();

  // Returns the latest reading; none if it was returned before.
  std::unique_ptr<const machine_reading> take();
  // Waits for a reading until that time.
  std::unique_ptr<const machine_reading> wait_until(std::chrono::steady_clock::time_point time);

 private:
  struct state;
  std::unique_ptr<state> state_;
};

}  // namespace hmn::cli::top
