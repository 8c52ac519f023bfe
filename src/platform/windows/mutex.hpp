// SPDX-License-Identifier: MIT OR Apache-2.0
#pragma once

namespace hmn::platform {

// Mutex on a word of the system (SRWLOCK). std::mutex of mingw-w64 allocates at its first lock,
// throws where it cannot, and never frees the memory.
class mutex {
 public:
  constexpr mutex() noexcept = default;
  mutex(const mutex&) = delete;
  mutex& operator=(const mutex&) = delete;

  void lock() noexcept;
  void unlock() noexcept;

 private:
  void* word_ = nullptr;  // SRWLOCK_INIT
};

}  // namespace hmn::platform
