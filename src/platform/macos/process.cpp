// SPDX-License-Identifier: MIT OR Apache-2.0
#include <pthread.h>
#include <unistd.h>

#include <atomic>

#include "platform/process.hpp"

namespace hmn::platform {
namespace {

constinit std::atomic<uint64_t> known_generation{0};  // 0 in a child until it draws its own number
constinit std::atomic<uint64_t> last{0};
constinit std::atomic<bool> is_watched{false};

extern "C" {
static void reset_in_child() {
  known_generation.store(0, std::memory_order_relaxed);
}
}

// macOS has no memory that a fork wipes. Registering the handler twice is harmless.
void watch() noexcept {
  if (pthread_atfork(nullptr, nullptr, reset_in_child) == 0) {
    is_watched.store(true, std::memory_order_release);
  }
}

uint64_t draw() noexcept {
  const uint64_t mine = last.fetch_add(1, std::memory_order_relaxed) + 1;
  uint64_t first = 0;
  return known_generation.compare_exchange_strong(first, mine, std::memory_order_relaxed) ? mine
                                                                                          : first;
}

}  // namespace

bool has_pid_namespaces() noexcept {
  return false;
}

bool is_privileged_start() noexcept {
  return issetugid() != 0;
}

uint64_t process_generation() noexcept {
  if (!is_watched.load(std::memory_order_acquire)) watch();
  const uint64_t value = known_generation.load(std::memory_order_relaxed);
  return value != 0 ? value : draw();
}

}  // namespace hmn::platform
