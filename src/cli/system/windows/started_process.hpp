// SPDX-License-Identifier: MIT OR Apache-2.0
#pragma once
#include <string>
#include <vector>

#include "cli/expected.hpp"
#include "cli/system/child.hpp"
#include "cli/system/windows/control_events.hpp"
#include "platform/windows/handle.hpp"

namespace hmn::cli {

struct child::running {
  // Ignores the terminal's Ctrl+C, which reaches the command directly.
  control_events events{[](control_event) {}};
  platform::handle process;
  std::uint32_t pid = 0;
  std::optional<std::uint64_t> seen_bytes;  // last sampled peak
  std::optional<process_end> end;
};

// Starts in the job object, if any. why_outside: the reason for starting outside.
expected<child> start_process(const std::vector<std::string>& command, HANDLE job,
                              std::string& why_outside);

}  // namespace hmn::cli
