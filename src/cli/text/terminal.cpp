// SPDX-License-Identifier: MIT OR Apache-2.0
#include "cli/text/terminal.hpp"

#include <algorithm>
#include <string_view>

namespace hmn::cli {
namespace {

constexpr unsigned usual_columns = 80;

char lower(char c) noexcept {
  return c >= 'A' && c <= 'Z' ? static_cast<char>(c - 'A' + 'a') : c;
}

bool equal_ignoring_case(std::string_view a, std::string_view b) noexcept {
  return std::equal(a.begin(), a.end(), b.begin(), b.end(),
                    [](char x, char y) { return lower(x) == lower(y); });
}

// Finds the codeset between the dot and the modifier: "de_DE.UTF-8@euro".
bool names_utf8(std::string_view locale) noexcept {
  const auto dot = locale.find('.');
  if (dot == std::string_view::npos) return false;
  const auto codeset = locale.substr(dot + 1, locale.find('@') - dot - 1);
  return equal_ignoring_case(codeset, "utf-8") || equal_ignoring_case(codeset, "utf8");
}

}  // namespace

style choose_style(const surroundings& around, colour_choice choice) noexcept {
  style chosen;
  const bool dumb = around.term.empty() || around.term == "dumb";
  chosen.terminal = around.is_terminal || choice == colour_choice::always;
  chosen.colour =
      choice == colour_choice::always || (choice == colour_choice::automatic &&
                                          around.is_terminal && !dumb && around.no_color.empty());
  if (!chosen.terminal) return chosen;
  const bool utf8 = names_utf8(around.locale);
  chosen.unicode = utf8 && around.term != "dumb";
  chosen.ascii_only = !utf8;
  if (!around.is_terminal) return chosen;
  chosen.width = around.columns > 0 ? around.columns : usual_columns;
  if (!dumb) chosen.height = around.lines;
  return chosen;
}

}  // namespace hmn::cli
