// SPDX-License-Identifier: MIT OR Apache-2.0
#pragma once
#include <cstdint>
#include <functional>
#include <optional>
#include <span>
#include <string>

namespace hmn::cli {

struct signal_choice {
  int number = 0;
  const char* name = "";    // "TERM"
  const char* effect = "";  // "ends the process"
};
// Returns the signals that a process can be sent; none on systems without process descriptors.
std::span<const signal_choice> signal_choices();

// Sends a signal through a process descriptor, so that a process that gets the pid later never
// receives it. `is_same` tests whether the pid is still the intended process's, after the
// descriptor was opened. Returns why it was not sent.
std::optional<std::string> send_signal(std::uint32_t pid, int number,
                                       const std::function<bool()>& is_same);

}  // namespace hmn::cli
