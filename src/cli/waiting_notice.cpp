// SPDX-License-Identifier: MIT OR Apache-2.0
#include "cli/waiting_notice.hpp"

#include <chrono>
#include <system_error>

#include "cli/output.hpp"

namespace hmn::cli {

waiting_notice::waiting_notice() {
  try {
    timer_ = std::thread([this] { wait(); });
  } catch (const std::system_error&) {
    // No thread to be had: the reading matters more than the notice.
  }
}

waiting_notice::~waiting_notice() {
  {
    const std::lock_guard lock(mutex_);
    over_ = true;
  }
  ended_.notify_one();
  if (timer_.joinable()) timer_.join();
}

void waiting_notice::wait() {
  std::unique_lock lock(mutex_);
  if (ended_.wait_for(lock, std::chrono::seconds(1), [this] { return over_; })) return;
  write_remark(
      "still waiting for a driver; without persistence mode NVIDIA's takes seconds to start "
      "(keep it loaded: run nvidia-persistenced, or nvidia-smi -pm 1)");
}

}  // namespace hmn::cli
