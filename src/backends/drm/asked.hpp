// SPDX-License-Identifier: MIT OR Apache-2.0
//
// What the processes that were asked for one by one had used then: load is the difference.
#pragma once

#include <array>
#include <cstdint>
#include <utility>

#include "backends/drm/clients.hpp"

namespace hmn::drm {

struct asked_process {
  std::uint32_t pid = 0;
  client_list now, before;  // no list where taken_ns is 0
};

class asked_processes {
 public:
  // To be asked again, at this time: `before` is from at least `apart_ns` ago. Of more processes
  // than are remembered the one that was not asked for longest is forgotten.
  asked_process& next(std::uint32_t pid, std::uint64_t now_ns, std::uint64_t apart_ns) {
    asked_process* found = &all_.front();
    for (asked_process& a : all_) {
      if (a.pid == pid) {
        found = &a;
        break;
      }
      if (a.now.taken_ns < found->now.taken_ns) found = &a;
    }
    if (found->pid != pid) {
      found->pid = pid;
      found->now.taken_ns = found->before.taken_ns = 0;
    }
    if (found->now.taken_ns != 0 && now_ns - found->now.taken_ns >= apart_ns) {
      std::swap(found->now, found->before);
    }
    return *found;
  }
  void forget() noexcept {
    for (asked_process& a : all_) a.pid = 0;
  }

 private:
  std::array<asked_process, 8> all_;
};

}  // namespace hmn::drm
