// SPDX-License-Identifier: MIT OR Apache-2.0
#pragma once

#include <atomic>
#include <cstdint>
#include <optional>
#include <string_view>

#include "procfs/stat.hpp"

namespace hmn::procfs {

// Returns a number for the text of sys/kernel/random/boot_id; 0 for anything else.
std::uint64_t parse_boot_id(std::string_view text) noexcept;

// Keys of the processes of a proc tree. The clock may be set at any time, so that a start time on
// it identifies none; ticks since a boot do.
class boot_id {
 public:
  // Returns nullopt where the tree has no id of the boot.
  std::optional<std::uint64_t> key_of(std::string_view root, const stat& s) noexcept;

 private:
  std::atomic<std::uint64_t> number_{0};  // 0: not read yet
};

}  // namespace hmn::procfs
