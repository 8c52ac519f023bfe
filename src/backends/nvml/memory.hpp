// SPDX-License-Identifier: MIT OR Apache-2.0
//
// A device's memory as NVML tells it, and what kind of memory that is.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "backends/nvml/call.hpp"
#include "backends/nvml/known_device.hpp"
#include "backends/nvml/session.hpp"
#include "model/device.hpp"
#include "model/pool.hpp"

namespace hmn::nvml {

// Bytes; what does not add up is left out.
struct memory_figures {
  std::optional<std::uint64_t> total, free, used, reserved;
  bool agree = true;
};

// total = reserved + free + used. Some drivers count reserved in used as well; it is taken out.
memory_figures check(const memory_v2& told) noexcept;
// total = free + used, with reserved inside used.
memory_figures check(const memory_v1& told) noexcept;

struct memory_answer {
  code result = function_not_found;
  const char* from = "";  // the function that gave it
  memory_figures figures;
};

memory_answer ask_memory(const topic& t, session& s, known_device& of);

// `host_total`: the host's RAM, where it is known.
memory_kind kind_of_memory(const memory_traits& traits, const memory_answer& answer,
                           std::optional<std::uint64_t> host_total) noexcept;

memory_traits ask_traits(const topic& t, const session& s, handle h, std::string_view name);

// "NVIDIA GB10", "Orin (nvgpu)", "NVIDIA Thor": GPUs inside a system on a chip.
bool names_system_on_chip(std::string_view name) noexcept;

// The RAM of the host.
std::optional<std::uint64_t> read_host_total(const std::string& proc_root);

pool to_pool(const memory_figures& figures) noexcept;

}  // namespace hmn::nvml
