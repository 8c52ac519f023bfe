// SPDX-License-Identifier: MIT OR Apache-2.0
//
// Memory of a device from NVML, and its kind.
#pragma once

#include <cstdint>
#include <optional>
#include <string>

#include "backends/nvml/call.hpp"
#include "backends/nvml/device.hpp"
#include "backends/nvml/session.hpp"
#include "model/device.hpp"
#include "model/pool.hpp"

namespace hmn::nvml {

// Bytes; inconsistent values are absent.
struct memory_values {
  std::optional<std::uint64_t> total, free, used, reserved;
  bool agree = true;
};

// total = reserved + free + used. Some drivers include reserved in used; it is subtracted.
memory_values check(const memory_v2& reported) noexcept;
// total = free + used, used includes reserved.
memory_values check(const memory_v1& reported) noexcept;

struct memory_answer {
  code result = no_symbol;
  const char* from = "";  // function that returned it
  memory_values values;
};

memory_answer ask_memory(const topic& t, session& s, known_device& of);

// `shared_total`: of read_shared_total().
memory_kind kind_of_memory(const memory_traits& traits, const memory_answer& answer,
                           std::optional<std::uint64_t> shared_total) noexcept;

memory_traits ask_traits(const topic& t, const session& s, handle h, const device& of);

// Reads the total host RAM, if it may be the device's memory.
std::optional<std::uint64_t> read_shared_total(const memory_traits& of,
                                               const std::string& proc_root);

pool to_pool(const memory_values& values) noexcept;

}  // namespace hmn::nvml
