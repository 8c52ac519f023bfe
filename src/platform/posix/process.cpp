// SPDX-License-Identifier: MIT OR Apache-2.0
#include "platform/process.hpp"

#include <sys/utsname.h>
#include <unistd.h>

#include <cstdlib>

#include "platform/system_override.hpp"

namespace hmn::platform {

uint32_t current_pid() noexcept {
  return static_cast<uint32_t>(getpid());
}

size_t page_size() noexcept {
  const auto real = static_cast<size_t>(sysconf(_SC_PAGESIZE));
  const SystemOverride* const r = SystemOverride::of_thread();
  return r != nullptr ? r->page_size(real) : real;
}

uint64_t clock_ticks_per_second() noexcept {
  return static_cast<uint64_t>(sysconf(_SC_CLK_TCK));
}

std::string host_name() {
  utsname known;
  return uname(&known) == 0 ? known.nodename : "";
}

const char* environment(const char* name) noexcept {
  return is_privileged_start() ? nullptr : std::getenv(name);
}

}  // namespace hmn::platform
