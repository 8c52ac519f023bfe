// SPDX-License-Identifier: MIT OR Apache-2.0
#pragma once
#include <hypomnesis.hpp>

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "cli/measure/session.hpp"

namespace hmn::cli {

// A device and the pool that allocations come from.
struct gpu {
  hypomnesis::device device{};
  std::optional<hypomnesis::pool> memory;
  std::string driver{};  // the kernel's, of one that nothing else names
};

std::vector<gpu> gpus_of(const session& in, const hypomnesis::snapshot& snapshot);

// Its memory is that of its parts, which are devices of their own.
bool is_divided(const std::vector<gpu>& all, std::uint32_t index);

// The name as it is; without one, what is known: "AMD 1002:73bf", "virtio_gpu 1af4:1050",
// "panthor GPU".
std::optional<std::string> shown_name(const gpu& of);
// "GPU 0 [name]", "GPU 3 [name] in GPU 0".
std::string label_of(const gpu& of);

// Absent where total, or both of free and used, are.
std::optional<double> fraction_used(const gpu& of);
std::optional<double> fraction_of(std::uint64_t part, std::uint64_t whole);

// ", stale: 3.2 s old", or nothing
std::string staleness(hypomnesis::note notes, std::uint64_t age_ns);

}  // namespace hmn::cli
