// SPDX-License-Identifier: MIT OR Apache-2.0
#include "cli/text/unicode.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <iterator>
#include <span>

#include "cli/system/file.hpp"
#include "cli/text/width_table.hpp"

namespace hmn::cli {
namespace {

constexpr char32_t replacement = 0xFFFD;

struct LeadByte {
  char32_t bits;
  std::size_t length;
  char32_t lowest;
};

LeadByte decode_lead_byte(unsigned char byte) noexcept {
  if (byte < 0x80) return {byte, 1, 0};
  if (byte >= 0xC2 && byte < 0xE0) return {byte & 0x1Fu, 2, 0x80};
  if (byte >= 0xE0 && byte < 0xF0) return {byte & 0x0Fu, 3, 0x800};
  if (byte >= 0xF0 && byte < 0xF5) return {byte & 0x07u, 4, 0x10000};
  return {replacement, 0, 0};
}

bool is_scalar(char32_t value) noexcept {
  return value <= 0x10FFFF && (value < 0xD800 || value > 0xDFFF);
}

}  // namespace

CodePoint first_code_point(std::string_view text) noexcept {
  if (text.empty()) return {};
  const auto lead_byte = decode_lead_byte(static_cast<unsigned char>(text.front()));
  if (lead_byte.length == 0 || lead_byte.length > text.size()) return {replacement, 1};
  auto value = lead_byte.bits;
  for (std::size_t i = 1; i < lead_byte.length; ++i) {
    const auto byte = static_cast<unsigned char>(text[i]);
    if ((byte & 0xC0u) != 0x80u) return {replacement, 1};
    value = value << 6 | (byte & 0x3Fu);
  }
  if (value < lead_byte.lowest || !is_scalar(value)) return {replacement, 1};
  return {value, lead_byte.length};
}

void append_utf8(std::string& out, char32_t value) {
  const auto put = [&out](char32_t byte) { out.push_back(static_cast<char>(byte)); };
  if (value < 0x80) {
    put(value);
  } else if (value < 0x800) {
    put(0xC0 | value >> 6);
    put(0x80 | (value & 0x3F));
  } else if (value < 0x10000) {
    put(0xE0 | value >> 12);
    put(0x80 | (value >> 6 & 0x3F));
    put(0x80 | (value & 0x3F));
  } else {
    put(0xF0 | value >> 18);
    put(0x80 | (value >> 12 & 0x3F));
    put(0x80 | (value >> 6 & 0x3F));
    put(0x80 | (value & 0x3F));
  }
}

namespace {

bool contains(std::span<const CodeRange> ranges, char32_t value) noexcept {
  const auto it =
      std::upper_bound(ranges.begin(), ranges.end(), value,
                       [](char32_t code, const CodeRange& range) { return code < range.first; });
  return it != ranges.begin() && value <= std::prev(it)->last;
}

std::string_view longest_prefix(std::string_view text, std::size_t columns) noexcept {
  std::size_t end = 0;
  for (std::size_t used = 0; end < text.size();) {
    const auto next = first_code_point(text.substr(end));
    used += code_point_width(next.value);
    if (used > columns) break;
    end += next.length;
  }
  return text.substr(0, end);
}

// Keeps whole characters, with the marks that combine with them.
std::string_view longest_suffix(std::string_view text, std::size_t columns) noexcept {
  auto remaining = display_width(text);
  std::size_t begin = 0;
  while (begin < text.size()) {
    const auto next = first_code_point(text.substr(begin));
    const auto width = code_point_width(next.value);
    if (remaining <= columns && width > 0) break;
    remaining -= width;
    begin += next.length;
  }
  return text.substr(begin);
}

}  // namespace

unsigned code_point_width(char32_t value) noexcept {
  if (value < 0x300) return 1;
  if (contains(zero_width, value)) return 0;
  return contains(double_width, value) ? 2 : 1;
}

std::size_t display_width(std::string_view text) noexcept {
  std::size_t columns = 0;
  while (!text.empty()) {
    const auto next = first_code_point(text);
    columns += code_point_width(next.value);
    text.remove_prefix(next.length);
  }
  return columns;
}

std::string cut_to_width(std::string_view text, std::size_t columns, std::string_view ellipsis) {
  if (display_width(text) <= columns) return std::string(text);
  const auto ellipsis_width = display_width(ellipsis);
  if (columns < ellipsis_width) return std::string(longest_prefix(text, columns));
  return std::string(longest_prefix(text, columns - ellipsis_width)).append(ellipsis);
}

std::string cut_middle(std::string_view text, std::size_t columns, std::string_view ellipsis) {
  if (display_width(text) <= columns) return std::string(text);
  const auto ellipsis_width = display_width(ellipsis);
  if (columns < ellipsis_width + 2) return cut_to_width(text, columns, ellipsis);
  const auto tail = longest_suffix(text, (columns - ellipsis_width) / 2);
  const auto head = longest_prefix(text, columns - ellipsis_width - display_width(tail));
  return std::string(head).append(ellipsis).append(tail);
}

std::string wrap(std::string_view text, std::size_t columns, std::size_t indent) {
  std::string out;
  std::size_t used = 0;
  while (!text.empty()) {
    const auto end = std::min(text.find(' '), text.size());
    const auto word = text.substr(0, end);
    const auto width = display_width(word);
    if (used > 0 && columns > 0 && used + 1 + width > columns) {
      out.append("\n").append(indent, ' ');
      used = indent;
    } else if (used > 0) {
      out += ' ';
      ++used;
    }
    out += word;
    used += width;
    text.remove_prefix(std::min(end + 1, text.size()));
  }
  return out;
}

namespace {

bool is_control(char32_t c) noexcept {
  return c < 0x20 || (c >= 0x7F && c < 0xA0);
}

// Tests for Bidi_Control of the Unicode Character Database, and the two line separators.
bool reorders_or_breaks(char32_t c) noexcept {
  return c == 0x061C || c == 0x200E || c == 0x200F || (c >= 0x2028 && c <= 0x202E) ||
         (c >= 0x2066 && c <= 0x2069);
}

char escape_letter(char32_t c) {
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

bool needs_escape(char32_t c) noexcept {
  return is_control(c) || reorders_or_breaks(c);
}

void append_text_escape(std::string& out, char32_t c) {
  const auto inserter = std::back_inserter(out);
  if (c < 0x100)
    fmt::format_to(inserter, "\\x{:02x}", static_cast<unsigned>(c));
  else
    fmt::format_to(inserter, "\\u{{{:x}}}", static_cast<unsigned>(c));
}

std::string escape_for_text(std::string_view name, bool ascii_only) {
  std::string out;
  out.reserve(name.size() + 2);
  while (!name.empty()) {
    const auto next = first_code_point(name);
    const char32_t c = next.value;
    if (const char letter = is_plain_backslash(c) ? 0 : escape_letter(c))
      out.append({'\\', letter});
    else if (needs_escape(c) || (ascii_only && c >= 0x80))
      append_text_escape(out, c);
    else
      append_utf8(out, c);
    name.remove_prefix(next.length);
  }
  return out;
}

}  // namespace hmn::cli
