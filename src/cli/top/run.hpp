// SPDX-License-Identifier: MIT OR Apache-2.0
#pragma once
#include <cstdint>
#include <optional>

#include "cli/measure/processes.hpp"
#include "cli/measure/session.hpp"
#include "cli/text/output.hpp"
#include "cli/top/options.hpp"

namespace hmn::cli::top {

struct run_settings {
  top_options asked;
  std::optional<std::uint32_t> device;
  std::optional<user_filter> user;
  style as;
  bool is_traced = false;   // print the driver calls of frames printed as text
  bool is_console = false;  // of the kernel, whose font has no braille
  int width = 0;            // of the frames printed as text
  int height = 0;           // 0: as many lines as there are
};

// Shows frames on the terminal until a key or a signal ends it.
expected<exit_code> run_on_terminal(const session& in, const run_settings& how);
// Prints frames as text.
expected<exit_code> run_as_text(const session& in, const run_settings& how);

}  // namespace hmn::cli::top
