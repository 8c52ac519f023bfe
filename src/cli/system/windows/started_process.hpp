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
  // The terminal's Ctrl+C reaches the command without us.
  control_events events{[](control_event) {}};
  platform::handle process;
  std::uint32_t pid = 0;
  exit_code status = exit_code::done;
  bool has_ended = false;
  std::optional<std::uint64_t> seen_bytes;  // the peak when it was last asked
  resource_use use;
};

// job: null, or the job object that it is born in. why_outside: it could not be put there.
expected<child> start_process(const std::vector<std::string>& command, HANDLE job,
                              std::string& why_outside);

}  // namespace hmn::cli
