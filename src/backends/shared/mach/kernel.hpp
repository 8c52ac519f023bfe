// SPDX-License-Identifier: MIT OR Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>

#include "backends/shared/mach/abi.hpp"

namespace hmn::mach {

// The functions of libSystem that the sources for macOS use, so that tests can replace them. Those
// that return -1 set errno.
struct kernel {
  port (*task_self)();
  kern_return (*task_info)(port task, unsigned flavor, int* out, unsigned* count);
  port (*host_self)();
  kern_return (*host_statistics)(port host, int flavor, int* out, unsigned* count);
  kern_return (*host_page_size)(port host, unsigned long* out);
  kern_return (*deallocate)(port task, port name);
  int (*sysctl)(int* name, unsigned length, void* out, std::size_t* size, void* in,
                std::size_t in_size);
  int (*sysctl_by_name)(const char* name, void* out, std::size_t* size, void* in,
                        std::size_t in_size);
  int (*pid_rusage)(int pid, int flavor, void** out);
  int (*pid_info)(int pid, int flavor, std::uint64_t argument, void* out, int size);
  int (*pid_path)(int pid, void* out, std::uint32_t size);
  int (*list_pids)(std::uint32_t type, std::uint32_t argument, void* out, int size);
  int (*ledger)(int command, void* first, void* second, void* third);
};

// The real functions.
const kernel& system_kernel() noexcept;

}  // namespace hmn::mach
