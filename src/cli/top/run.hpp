// SPDX-License-Identifier: MIT OR Apache-2.0
#pragma once
#include <cstdint>
#include <optional>

#include "cli/measure/processes.hpp"
#include "cli/measure/session.hpp"
#include "cli/text/output.hpp"
#include "cli/top/options.hpp"

namespace hmn::cli::top {

struct RunSettings {
  TopOptions options;
  std::optional<std::uint32_t> device;
  std::optional<UserFilter> user;
  Style style;
  bool is_traced = false;   // print the driver calls of frames printed as text
  bool is_console = false;  // the kernel's console, whose font has no braille
  int width = 0;            // of the frames printed as text
  int height = 0;           // 0: as many lines as there are
};

// Shows frames on the terminal until a key or a signal ends it.
Expected<ExitCode> run_on_terminal(const Session& session, const RunSettings& settings);
// Prints frames as text.
Expected<ExitCode> run_as_text(const Session& session, const RunSettings& settings);

}  // namespace hmn::cli::top
