// SPDX-License-Identifier: MIT OR Apache-2.0
#include "cli/text/escape.hpp"

#include <fmt/format.h>

#include <iterator>

#include "cli/system/file.hpp"
#include "cli/text/utf8.hpp"

namespace hmn::cli {
namespace {

bool is_control(char32_t c) noexcept {
  return c < 0x20 || (c >= 0x7F && c < 0xA0);
}

// Tests for Bidi_Control of the Unicode Character Database, and the two line separators.
bool reorders_or_breaks(char32_t c) noexcept {
  return c == 0x061C || c == 0x200E || c == 0x200F || (c >= 0x2028 && c <= 0x202E) ||
         (c >= 0x2066 && c <= 0x2069);
}

char short_form(char32_t c) {
  if (c == '\n') return 'n';
  if (c == '\r') return 'r';
  if (c == '\t') return 't';
  if (c == '\\') return '\\';
  return 0;
}

// Leaves backslashes unescaped where they separate folders: names contain none, and paths stay
// familiar.
bool is_plain_backslash(char32_t c) {
  return c == '\\' && path_separators.find('\\') != std::string_view::npos;
}

}  // namespace

bool is_acted_on(char32_t c) noexcept {
  return is_control(c) || reorders_or_breaks(c);
}

void append_text_escape(std::string& out, char32_t c) {
  const auto to = std::back_inserter(out);
  if (c < 0x100)
    fmt::format_to(to, "\\x{:02x}", static_cast<unsigned>(c));
  else
    fmt::format_to(to, "\\u{{{:x}}}", static_cast<unsigned>(c));
}

std::string escape_for_text(std::string_view name, bool ascii_only) {
  std::string out;
  out.reserve(name.size() + 2);
  while (!name.empty()) {
    const auto next = first_code_point(name);
    const char32_t c = next.value;
    if (const char letter = is_plain_backslash(c) ? 0 : short_form(c))
      out.append({'\\', letter});
    else if (is_acted_on(c) || (ascii_only && c >= 0x80))
      append_text_escape(out, c);
    else
      append_utf8(out, c);
    name.remove_prefix(next.length);
  }
  return out;
}

}  // namespace hmn::cli
