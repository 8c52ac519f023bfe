// SPDX-License-Identifier: MIT OR Apache-2.0
#include "cli/exporter/server/connections.hpp"

#include <sys/socket.h>

#include <algorithm>
#include <tuple>

namespace hmn::cli {

namespace {

// The descriptor stays that connection's until closed() has returned.
void end(connections::entry& which) {
  shutdown(which.socket, SHUT_RDWR);
  which.deadline = connections::clock::time_point::max();
}

}  // namespace

connections::connections() : watch_([this] { watch(); }) {}

connections::~connections() {
  {
    const std::lock_guard lock(mutex_);
    stopped_ = true;
    changed_.notify_one();
  }
  watch_.join();
}

connections::handle connections::opened(int socket) {
  const std::lock_guard lock(mutex_);
  changed_.notify_one();
  if (all_.size() >= most_open) end_most_silent();
  return all_.insert(all_.end(), {socket, clock::now() + longest_request});
}

void connections::set(handle which, std::chrono::seconds longest, bool is_answered) {
  const std::lock_guard lock(mutex_);
  which->deadline = clock::now() + longest;
  which->is_answered = is_answered;
}

void connections::end_most_silent() {
  const auto silent = std::min_element(all_.begin(), all_.end(), [](const auto& a, const auto& b) {
    return std::tie(a.is_answered, a.deadline) < std::tie(b.is_answered, b.deadline);
  });
  if (!silent->is_answered) end(*silent);
}

void connections::closed(handle which) {
  const std::lock_guard lock(mutex_);
  all_.erase(which);
}

void connections::watch() {
  std::unique_lock lock(mutex_);
  while (!stopped_) {
    if (all_.empty()) {
      changed_.wait(lock);
      continue;
    }
    // Looks at them in turn: a deadline is met within that time.
    constexpr std::chrono::seconds turn{5};
    changed_.wait_for(lock, turn, [this] { return stopped_; });
    const auto now = clock::now();
    for (auto& each : all_)
      if (each.deadline <= now) end(each);
  }
}

}  // namespace hmn::cli
