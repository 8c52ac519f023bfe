// SPDX-License-Identifier: MIT OR Apache-2.0
#pragma once

#include <windows.h>

#include <cstdint>

#include "model/failure.hpp"
#include "model/host_memory.hpp"

namespace hmn::os {

result<void> read_process_memory(HANDLE process, std::uint32_t fields, process_memory& out);

}  // namespace hmn::os
