// SPDX-License-Identifier: MIT OR Apache-2.0
#include "cli/exporter/server/connections.hpp"

#include <sys/socket.h>

#include <algorithm>

namespace hmn::cli {

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
  return all_.insert(all_.end(), {socket, clock::now() + longest_request});
}

void connections::set(handle which, std::chrono::seconds longest) {
  const std::lock_guard lock(mutex_);
  which->deadline = clock::now() + longest;
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
    for (auto& each : all_) {
      if (each.deadline > now) continue;
      // The descriptor stays that connection's until closed() has returned.
      shutdown(each.socket, SHUT_RDWR);
      each.deadline = clock::time_point::max();
    }
  }
}

}  // namespace hmn::cli
