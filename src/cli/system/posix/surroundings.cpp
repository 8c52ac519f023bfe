// SPDX-License-Identifier: MIT OR Apache-2.0
#include "cli/system/surroundings.hpp"

#include <sys/ioctl.h>
#include <unistd.h>

#include "cli/system/environment.hpp"
#include "cli/system/streams.hpp"

namespace hmn::cli {
namespace {

std::string locale_name() {
  for (const char* name : {"LC_ALL", "LC_CTYPE", "LANG"})
    if (auto value = environment_value(name); value && !value->empty()) return *std::move(value);
  return {};
}

}  // namespace

surroundings standard_output_surroundings() {
  surroundings around;
  around.is_terminal = isatty(output_descriptor()) == 1;
  winsize size{};
  if (around.is_terminal && ioctl(output_descriptor(), TIOCGWINSZ, &size) == 0) {
    around.columns = size.ws_col;
    around.lines = size.ws_row;
  }
  around.term = environment_value("TERM").value_or("");
  around.no_color = environment_value("NO_COLOR").value_or("");
  around.locale = locale_name();
  return around;
}

}  // namespace hmn::cli
