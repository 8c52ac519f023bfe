// SPDX-License-Identifier: MIT OR Apache-2.0
//
// Process list of NVML, read completely and decoded. Rows have 16, 24 or 32 bytes, two of them
// under the same symbol, so the size is detected from what the driver wrote.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "backends/nvml/abi.hpp"
#include "backends/nvml/call.hpp"

namespace hmn::nvml {

inline constexpr std::size_t largest_row = sizeof(process_detail);
inline constexpr std::byte untouched{0xA5};

struct listed_process {
  std::uint32_t pid = 0;
  std::uint64_t used = value_not_available;
  std::uint32_t gpu_instance = no_instance;
  std::uint32_t compute_instance = no_instance;
};

struct row_size_guess {
  std::size_t row_size = 0;  // 0: nothing was written
  bool certain = false;      // no other size explains the data
};

// Pure. Detects the row size in a buffer filled with `untouched` before the driver wrote `count`
// rows into it. `usual` wins if the content is ambiguous.
row_size_guess detect_row_size(std::span<const std::byte> buffer, std::size_t count,
                               std::size_t usual) noexcept;

// Pure. Decodes row `i`; returns false if the driver did not write it. Rows of 16 bytes have no
// instances.
bool decode_row(std::span<const std::byte> buffer, std::size_t i, std::size_t row_size,
                listed_process& out) noexcept;

// Keeps its buffer, so that a list of the same length is read without allocation.
class process_list {
 public:
  // Maximum number of rows requested.
  static constexpr std::size_t limit = 131072;

  // `row_size`: detected with certainty in earlier lists of this function, else 0. unusable: not
  // all rows that the driver counts are processes; rows() has those that are.
  code read(const topic& t, const list_call& from, handle of, std::size_t& row_size);

  [[nodiscard]] std::span<const listed_process> rows() const noexcept { return rows_; }
  // Number of rows that were not read.
  [[nodiscard]] std::uint64_t missed() const noexcept { return missed_; }

 private:
  code ask(const topic& t, const list_call& from, handle of, unsigned& count);
  void decode(std::size_t count, std::size_t row_size);

  std::vector<std::byte> buffer_;
  std::vector<listed_process> rows_;
  std::uint64_t missed_ = 0;
};

}  // namespace hmn::nvml
