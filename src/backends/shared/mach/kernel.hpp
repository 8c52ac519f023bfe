// SPDX-License-Identifier: MIT OR Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>

#include "backends/shared/mach/abi.hpp"

namespace hmn::mach {

// The functions of libSystem that the sources for macOS use, so that tests can replace them. Those
// that return -1 set errno.
struct Kernel {
  Port (*task_self)();
  KernReturn (*task_info)(Port task, unsigned flavor, int* out, unsigned* count);
  Port (*host_self)();
  KernReturn (*host_statistics)(Port host, int flavor, int* out, unsigned* count);
  KernReturn (*host_page_size)(Port host, unsigned long* out);
  KernReturn (*deallocate)(Port task, Port name);
  int (*sysctl)(int* name, unsigned length, void* out, std::size_t* size, void* input,
                std::size_t input_size);
  int (*sysctl_by_name)(const char* name, void* out, std::size_t* size, void* input,
                        std::size_t input_size);
  int (*pid_rusage)(int pid, int flavor, void** out);
  int (*pid_info)(int pid, int flavor, std::uint64_t argument, void* out, int size);
  int (*pid_path)(int pid, void* out, std::uint32_t size);
  int (*list_pids)(std::uint32_t type, std::uint32_t argument, void* out, int size);
  int (*ledger)(int command, void* first, void* second, void* third);
};

// The real functions.
const Kernel& system_kernel() noexcept;

}  // namespace hmn::mach
