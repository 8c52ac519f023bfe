// SPDX-License-Identifier: MIT OR Apache-2.0
#include <pthread.h>
#include <unistd.h>

#include <atomic>

#include "platform/process.hpp"

namespace hmn::platform {
namespace {

// 0 in a child until it draws its own number.
constinit std::atomic<uint64_t> current_generation{0};
constinit std::atomic<uint64_t> last_generation{0};
constinit std::atomic<bool> has_fork_handler{false};

extern "C" {
static void reset_in_child() {
  current_generation.store(0, std::memory_order_relaxed);
}
}

// macOS has no memory that a fork wipes. Registering the handler twice is harmless.
void install_fork_handler() noexcept {
  if (pthread_atfork(nullptr, nullptr, reset_in_child) == 0) {
    has_fork_handler.store(true, std::memory_order_release);
  }
}

uint64_t draw_generation() noexcept {
  const uint64_t number = last_generation.fetch_add(1, std::memory_order_relaxed) + 1;
  uint64_t existing = 0;
  return current_generation.compare_exchange_strong(existing, number, std::memory_order_relaxed)
             ? number
             : existing;
}

}  // namespace

bool has_pid_namespaces() noexcept {
  return false;
}

bool is_privileged_start() noexcept {
  return issetugid() != 0;
}

uint64_t process_generation() noexcept {
  if (!has_fork_handler.load(std::memory_order_acquire)) install_fork_handler();
  const uint64_t value = current_generation.load(std::memory_order_relaxed);
  return value != 0 ? value : draw_generation();
}

}  // namespace hmn::platform
