// SPDX-License-Identifier: MIT OR Apache-2.0
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "cli/expected.hpp"
#include "cli/system/child.hpp"
#include "cli/system/environment.hpp"
#include "cli/system/process_tree.hpp"

namespace hmn::cli {

// Peak that the system keeps of a group.
struct GroupPeak {
  std::optional<std::uint64_t> bytes;
  std::string reason;        // reason for missing bytes
  std::string bound_reason;  // why the command's own peak may be below bytes; empty: they are exact
};

// Group of all processes of a command, whose peak memory the system keeps: on Linux the control
// group (version 2) that hmn was started in, if nothing else is in it; on Windows a job object of
// the command. No process is moved to another group.
class CommandGroup {
 public:
  struct Kind {
    const char* name;     // "control group"
    const char* key;      // in JSON
    const char* measure;  // meaning of its peak
    bool holds_all;       // every descendant of the command
  };
  static const Kind& kind();

  // Fails with the reason if there is no such group.
  static Expected<CommandGroup> make(const Roots& roots);
  CommandGroup(CommandGroup&& other) noexcept;
  CommandGroup& operator=(CommandGroup&&) = delete;
  ~CommandGroup();

  // Starts the command inside the group, or outside with the reason where hmn lacks the right.
  Expected<Child> start(const std::vector<std::string>& command, std::string& outside_reason) const;

  // Looks for processes that make the peak differ from the command's: others that have
  // entered the group, members of the command that have left it.
  void check_members(const std::vector<ProcessTree::Member>& members);
  GroupPeak peak() const;
  // Peak of a device's video memory, where the system counts it by group.
  GroupPeak device_peak(std::string_view pci_bus_id) const;
  std::optional<std::uint64_t> current_bytes() const;
  // Processes that belong to the command because the group lists them.
  std::vector<std::uint32_t> processes() const;

 private:
  struct State;
  explicit CommandGroup(std::unique_ptr<State> state);

  std::unique_ptr<State> state_;
};

}  // namespace hmn::cli
