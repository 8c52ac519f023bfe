// SPDX-License-Identifier: MIT OR Apache-2.0
#pragma once
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "cli/expected.hpp"
#include "cli/hardware.hpp"

namespace hmn::cli {

// A control group (version 2) of a command's own, below that of hmn or beside it, so that the
// kernel keeps the exact highest memory of all its processes. What is left in it at the end goes
// back to where hmn is, and the group is removed.
class control_group {
 public:
  // Why there is none is told by the failure.
  static expected<control_group> make(const roots& in);
  control_group(control_group&& other) noexcept;
  control_group& operator=(control_group&&) = delete;
  ~control_group();

  // hmn itself goes in and out, so that what it starts meanwhile is born inside.
  bool enter() const;
  void leave() const;

  // memory.peak, Linux 5.19: all that is charged to the group, page cache and kernel memory too.
  std::optional<std::uint64_t> peak_bytes() const;
  std::optional<std::uint64_t> current_bytes() const;
  std::vector<std::uint32_t> processes() const;

 private:
  control_group(std::string folder, std::string home)
      : folder_(std::move(folder)), home_(std::move(home)) {}

  std::string folder_;  // empty: moved from
  std::string home_;    // of hmn
};

}  // namespace hmn::cli
