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

// Group of all processes of a command: a control group (version 2) of its own on Linux, a job
// object on Windows. The system then knows the exact peak memory of the whole group. Processes that
// are left at the end continue.
class command_group {
 public:
  struct kind {
    const char* name;     // "control group"
    const char* key;      // in JSON
    const char* measure;  // meaning of peak_bytes
  };
  static const kind& what();

  // Fails with the reason if there can be no group.
  static expected<command_group> make(const roots& in);
  command_group(command_group&& other) noexcept;
  command_group& operator=(command_group&&) = delete;
  ~command_group();

  // Starts the command inside the group, or outside with the reason where hmn lacks the right.
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
