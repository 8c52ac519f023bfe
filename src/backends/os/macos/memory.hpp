// SPDX-License-Identifier: MIT OR Apache-2.0
#pragma once

#include <cstdint>

#include "backends/shared/mach/kernel.hpp"
#include "model/failure.hpp"
#include "model/host_memory.hpp"

namespace hmn::macos {

// `fields` are process_memory_field bits, never 0. Succeeds if at least one was read.
Result<void> read_own_memory(const mach::Kernel& kernel, FieldSet fields, ProcessMemory& memory);
Result<void> read_memory(const mach::Kernel& kernel, std::uint32_t pid, FieldSet fields,
                         ProcessMemory& memory);

Result<void> read_system_memory(const mach::Kernel& kernel, SystemMemory& memory);

}  // namespace hmn::macos
