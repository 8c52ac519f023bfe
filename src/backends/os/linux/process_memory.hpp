// SPDX-License-Identifier: MIT OR Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <string_view>

#include "model/failure.hpp"
#include "model/host_memory.hpp"
#include "procfs/statm.hpp"

namespace hmn::os {

// False when a figure does not fit 64 bits.
bool fill(const procfs::statm& m, std::size_t page_size, std::uint32_t fields,
          process_memory& out) noexcept;

// The memory of the process whose folder is <root>/<who>.
result<void> read_process_memory(std::string_view root, std::string_view who, std::size_t page_size,
                                 std::uint32_t fields, process_memory& out);

}  // namespace hmn::os
