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
  const auto system_size = static_cast<size_t>(sysconf(_SC_PAGESIZE));
  const SystemOverride* const active = SystemOverride::active();
  return active != nullptr ? active->page_size(system_size) : system_size;
}

uint64_t clock_ticks_per_second() noexcept {
  return static_cast<uint64_t>(sysconf(_SC_CLK_TCK));
}

std::string host_name() {
  utsname info;
  return uname(&info) == 0 ? info.nodename : "";
}

const char* environment(const char* name) noexcept {
  return is_privileged_start() ? nullptr : std::getenv(name);
}

}  // namespace hmn::platform
