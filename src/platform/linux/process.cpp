// SPDX-License-Identifier: MIT OR Apache-2.0
#include <pthread.h>
#include <sys/auxv.h>
#include <sys/mman.h>

#include <atomic>

#include "platform/process.hpp"

namespace hmn::platform {
namespace {

constexpr size_t one_page = 1;  // the kernel rounds up

// Used where no page can be wiped: zero in a child until it draws its own number.
alignas(8) constinit uint64_t fallback_generation = 0;
constinit std::atomic<uint64_t*> current{nullptr};
constinit std::atomic<uint64_t> last_generation{0};

extern "C" {
static void reset_in_child() {
  if (uint64_t* location = current.load(std::memory_order_relaxed)) {
    std::atomic_ref<uint64_t>(*location).store(0, std::memory_order_relaxed);
  }
}
}

uint64_t* map_wiped_page() noexcept {
  void* page = mmap(nullptr, one_page, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  if (page == MAP_FAILED) return nullptr;
  if (madvise(page, one_page, MADV_WIPEONFORK) == 0) return static_cast<uint64_t*>(page);
  munmap(page, one_page);  // before Linux 4.14
  return nullptr;
}

// Sets up fork detection. The wiped page also detects forks that run no handlers. The handler is
// for old kernels, and for emulators that ignore the advice (QEMU 7.2).
uint64_t* establish_location() noexcept {
  uint64_t* page = map_wiped_page();
  uint64_t* location = page != nullptr ? page : &fallback_generation;
  const bool has_handler = pthread_atfork(nullptr, nullptr, reset_in_child) == 0;
  if (page == nullptr && !has_handler) return location;  // unpublished: the next caller tries again
  uint64_t* existing = nullptr;
  if (current.compare_exchange_strong(existing, location, std::memory_order_acq_rel))
    return location;
  if (page != nullptr) munmap(page, one_page);
  return existing;
}

uint64_t draw_generation(std::atomic_ref<uint64_t> generation) noexcept {
  const uint64_t number = last_generation.fetch_add(1, std::memory_order_relaxed) + 1;
  uint64_t existing = 0;
  return generation.compare_exchange_strong(existing, number, std::memory_order_relaxed) ? number
                                                                                         : existing;
}

}  // namespace

bool has_pid_namespaces() noexcept {
  return true;
}

bool is_privileged_start() noexcept {
  return getauxval(AT_SECURE) != 0;
}

uint64_t process_generation() noexcept {
  uint64_t* const location = current.load(std::memory_order_acquire);
  if (location == nullptr) return draw_generation(std::atomic_ref<uint64_t>(*establish_location()));
  const std::atomic_ref<uint64_t> generation(*location);
  const uint64_t value = generation.load(std::memory_order_relaxed);
  return value != 0 ? value : draw_generation(generation);
}

}  // namespace hmn::platform
