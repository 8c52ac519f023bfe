// SPDX-License-Identifier: MIT OR Apache-2.0
#include "platform/posix/thread_system.hpp"

#include <dlfcn.h>
#include <pthread.h>

#include <atomic>

namespace hmn::platform {
namespace {

constinit std::atomic<bool> is_pinned{false};

}  // namespace

void name_own_thread(const char* name) noexcept {
  pthread_setname_np(name);
}

// Opens the library again and never closes it.
void stay_loaded() noexcept {
  if (is_pinned.load(std::memory_order_relaxed)) return;
  Dl_info file;
  if (dladdr(reinterpret_cast<const void*>(&stay_loaded), &file) == 0) return;
  const void* const own = dlopen(file.dli_fname, RTLD_LAZY | RTLD_NOLOAD | RTLD_NODELETE);
  if (own != nullptr) is_pinned.store(true, std::memory_order_relaxed);
}

}  // namespace hmn::platform
