// SPDX-License-Identifier: MIT OR Apache-2.0
//
// Names and arguments in the command.
#include "cli/text/arguments.hpp"
#include "cli/text/plot.hpp"
#include "cli/text/unicode.hpp"
#include "fuzz.hpp"

using namespace hmn::cli;

namespace {

void check_escapes(std::string_view name) {
  for (const bool ascii : {false, true}) {
    const std::string text = escape_for_text(name, ascii);
    for (const char c : text) {
      const auto byte = static_cast<unsigned char>(c);
      promise(byte >= 0x20 && byte != 0x7f && (!ascii || byte < 0x80));
    }
    promise(is_utf8(text));
  }
}

void check_width(std::string_view name, std::size_t columns) {
  const std::string text = escape_for_text(name);
  const std::string cut = cut_to_width(text, columns, "…");
  promise(display_width(cut) <= columns || columns == 0);
  promise(display_width(text) > columns || cut == text);
}

void check_xml(std::string_view name) {
  const std::string text = escape_for_xml(name);
  promise(is_utf8(text));
  promise(text.find_first_of("<>\"'") == std::string::npos);
  for (const char c : text) promise(static_cast<unsigned char>(c) >= 0x20);
}

}  // namespace

void fuzz(std::string_view input) {
  const std::size_t columns = take_byte(input) % 40;
  check_escapes(input);
  check_width(input, columns);
  const std::string_view pattern = input.substr(0, input.size() / 4).substr(0, 40);
  const std::string_view text = input.substr(pattern.size()).substr(0, 200);
  (void)glob_matches(pattern, text);
  promise(glob_matches("*", text));
  (void)parse_duration(input);
  if (const auto bytes = parse_size_argument(input)) promise(*bytes > 0);
  check_xml(input);
}
