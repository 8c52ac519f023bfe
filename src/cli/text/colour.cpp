// SPDX-License-Identifier: MIT OR Apache-2.0
#include "cli/text/colour.hpp"

namespace hmn::cli {
namespace {

// Returns the code of ECMA-48, "select graphic rendition".
std::string_view code_of(tone with) noexcept {
  switch (with) {
    case tone::strong:
      return "1";
    case tone::faint:
      return "2";
    case tone::good:
      return "32";
    case tone::warning:
      return "33";
    case tone::bad:
      return "31";
    case tone::plain:
      break;
  }
  return {};
}

}  // namespace

tone tone_of_usage(double fraction) noexcept {
  if (fraction >= 0.9) return tone::bad;
  return fraction >= 0.7 ? tone::warning : tone::good;
}

std::string paint(std::string_view text, tone with, bool on) {
  const auto code = code_of(with);
  if (!on || code.empty() || text.empty()) return std::string(text);
  return std::string("\x1b[").append(code).append("m").append(text).append("\x1b[0m");
}

}  // namespace hmn::cli
