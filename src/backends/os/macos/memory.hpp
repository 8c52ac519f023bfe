// SPDX-License-Identifier: MIT OR Apache-2.0
#pragma once

#include <cstdint>

#include "backends/shared/mach/kernel.hpp"
#include "model/failure.hpp"
#include "model/host_memory.hpp"

namespace hmn::macos {

// `fields` are process_memory_field bits, never 0. Succeeds if at least one was read.
result<void> read_own_memory(const mach::kernel& k, FieldSet fields, process_memory& out);
result<void> read_memory(const mach::kernel& k, std::uint32_t pid, FieldSet fields,
                         process_memory& out);

result<void> read_system_memory(const mach::kernel& k, system_memory& out);

}  // namespace hmn::macos
