// SPDX-License-Identifier: MIT OR Apache-2.0
#include <dlfcn.h>
#include <fcntl.h>
#include <pthread.h>
#include <unistd.h>

#include <atomic>
#include <cerrno>

#include "platform/posix/thread.hpp"

namespace hmn::platform {
namespace {

constinit std::atomic<bool> is_pinned{false};

}  // namespace

void name_own_thread(const char* name) noexcept {
  pthread_setname_np(name);
}

// Opens the library once more and never closes it.
void stay_loaded() noexcept {
  if (is_pinned.load(std::memory_order_relaxed)) return;
  Dl_info file;
  if (dladdr(reinterpret_cast<const void*>(&stay_loaded), &file) == 0) return;
  const void* const handle = dlopen(file.dli_fname, RTLD_LAZY | RTLD_NOLOAD | RTLD_NODELETE);
  if (handle != nullptr) is_pinned.store(true, std::memory_order_relaxed);
}

int open_event(int (&ends)[2]) noexcept {
  if (pipe(ends) != 0) return errno;
  bool is_set = true;
  for (const int end : ends) {
    is_set = is_set && fcntl(end, F_SETFD, FD_CLOEXEC) == 0 &&
             fcntl(end, F_SETFL, fcntl(end, F_GETFL) | O_NONBLOCK) == 0;
  }
  if (is_set && fcntl(ends[1], F_SETNOSIGPIPE, 1) == 0) return 0;
  const int error = errno;
  for (const int end : ends) ::close(end);
  return error;
}

}  // namespace hmn::platform
