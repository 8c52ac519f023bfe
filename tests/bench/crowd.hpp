// SPDX-License-Identifier: MIT OR Apache-2.0
#pragma once

#include <sys/types.h>

#include <memory>
#include <vector>

namespace bench {

// Real processes that only wait, with their own descriptor tables: sockets, pipes, files,
// and in `clients` of them, spread evenly, one descriptor of `device`. They share this process'
// memory, so that ten thousand are cheap.
class Crowd {
 public:
  Crowd(int count, int descriptors, int clients, const char* device);
  Crowd(const Crowd&) = delete;
  Crowd& operator=(const Crowd&) = delete;
  ~Crowd();
  // As many as could be started; none if they would need more than half of all PIDs.
  [[nodiscard]] const std::vector<pid_t>& pids() const { return pids_; }

 private:
  std::vector<pid_t> pids_;
  std::unique_ptr<char[]> stacks_;
};

}  // namespace bench
