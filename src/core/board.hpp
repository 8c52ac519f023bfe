// SPDX-License-Identifier: MIT OR Apache-2.0
#pragma once

#include "core/reply.hpp"
#include "model/function_ref.hpp"
#include "platform/mutex.hpp"

namespace hmn {

// Where a worker writes what it has found as it goes, for all to read: what was reached before a
// device hung is not lost with it.
class board {
 public:
  void take_list(const reply& fresh);
  void take_device(device_reply& fresh);
  // The reading is over.
  void finish(reply& fresh) noexcept;
  // The source was not asked; no_source: since it is not on this machine.
  void refuse(failure why) noexcept;

  // `at` sees what is known, undisturbed.
  template <class T>
  T look(function_ref<T(const reply& known)> at) const {
    const std::lock_guard lock(mutex_);
    return at(known_);
  }

 private:
  mutable platform::mutex mutex_;
  reply known_;
};

}  // namespace hmn
