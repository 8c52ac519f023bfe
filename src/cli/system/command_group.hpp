// SPDX-License-Identifier: MIT OR Apache-2.0
#pragma once
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "cli/expected.hpp"
#include "cli/system/child.hpp"
#include "cli/system/roots.hpp"

namespace hmn::cli {

// What the system keeps for all processes of a command together: a control group (version 2) of its
// own on Linux, a job object on Windows. The system then knows the exact highest memory of them
// all. Processes that are left at the end go on.
class command_group {
 public:
  struct kind {
    const char* name;     // "control group"
    const char* key;      // in JSON
    const char* measure;  // what peak_bytes counts
  };
  static const kind& what();

  // Why there is none is told by the failure.
  static expected<command_group> make(const roots& in);
  command_group(command_group&& other) noexcept;
  command_group& operator=(command_group&&) = delete;
  ~command_group();

  // Inside from its first instruction; outside where hmn may not, for the reason that is then set.
  expected<child> start(const std::vector<std::string>& command, std::string& why_outside) const;

  std::optional<std::uint64_t> peak_bytes() const;
  std::optional<std::uint64_t> current_bytes() const;
  std::vector<std::uint32_t> processes() const;

 private:
  struct state;
  explicit command_group(std::unique_ptr<state> made);

  std::unique_ptr<state> state_;
};

}  // namespace hmn::cli
