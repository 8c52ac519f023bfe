// SPDX-License-Identifier: MIT OR Apache-2.0
//
// Values as text for people, the same in every locale.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>

#include "core/snapshot.hpp"

namespace hmn {

// HMN_FORMAT_* of the C interface; src/api asserts it.
enum class DeviceFormat : std::uint32_t {
  free = HMN_FORMAT_FREE,
  total = HMN_FORMAT_TOTAL,
  used = HMN_FORMAT_USED,
};

enum class Sign { minus_only, always };

// Appends a decimal, rounded half to even on the exact value; a negative value that rounds to zero
// keeps its sign.
void append_rounded(std::string& out, double value, int decimals, Sign sign = Sign::minus_only);

double to_mebibytes(std::uint64_t bytes) noexcept;

// Appends "512 MiB"; `unit` is the word for MiB.
void append_mebibytes(std::string& out, std::uint64_t bytes, std::string_view unit);

// Appends "512 MiB", rounded down, below 1 GiB; "8.2 GiB" above.
void append_bytes(std::string& out, std::uint64_t bytes);

// Appends "  GPU 0: free 13284 MiB / 16384 MiB [name]\n"; `unit` is the word for MiB.
Result<void> append_device(std::string& out, const Snapshot& snapshot, std::uint32_t index,
                           DeviceFormat format, std::string_view unit);

}  // namespace hmn
