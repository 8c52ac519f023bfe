// SPDX-License-Identifier: MIT OR Apache-2.0
#include "cli/top/frame.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "cli/text/utf8.hpp"
#include "cli/text/width.hpp"

namespace hmn::cli::top {
namespace {

bool is_control_character(char32_t c) {
  return c < 0x20 || (c >= 0x7F && c < 0xA0);
}

// Returns whether it changes the width of the character before it in some terminals only: joiners,
// variation selectors, skin tones.
bool changes_width(char32_t c) {
  return (c >= 0x200B && c <= 0x200D) || c == 0x2060 || (c >= 0xFE00 && c <= 0xFE0F) ||
         (c >= 0x1F3FB && c <= 0x1F3FF) || (c >= 0xE0000 && c <= 0xE0FFF);
}

bool is_blank(const cell& of, bool colour) {
  return of.text[0] == U' ' && of.text[1] == 0 && !(colour && of.is_selected) && !of.is_tail;
}

// Returns the code of ECMA-48, "select graphic rendition".
std::string rendition_of(const cell& of) {
  const auto how = look_of(of.with);
  std::string codes = "0";
  if (of.is_selected) codes += ";7";
  if (how.is_bold) codes += ";1";
  if (how.is_dim && how.colour < 0) codes += ";2";
  if (how.colour >= 0) codes += fmt::format(";38;5;{}", how.colour);
  return "\x1b[" + codes + "m";
}

}  // namespace

frame::frame(int width, int height, glyphs with)
    : width_(std::max(width, 0)),
      height_(std::max(height, 0)),
      glyphs_(with),
      cells_(static_cast<std::size_t>(width_) * static_cast<std::size_t>(height_)) {}

// Blanks the other half of a wide character that loses one.
void frame::split_wide(int x, int y) {
  auto& here = cells_[index_of(x, y)];
  if (here.is_tail && x > 0) cells_[index_of(x - 1, y)].text = {U' ', 0, 0};
  if (x + 1 < width_) {
    auto& next = cells_[index_of(x + 1, y)];
    if (next.is_tail && !here.is_tail) next = {};
  }
  here.is_tail = false;
}

void frame::put(int x, int y, char32_t character, ink with) {
  if (!contains(x, y)) return;
  split_wide(x, y);
  const auto columns = width_of(character);
  auto& here = cells_[index_of(x, y)];
  here.with = with;
  here.text = {is_control_character(character) ? U'?' : character, 0, 0};
  if (columns != 2) return;
  if (!contains(x + 1, y)) {
    here.text[0] = U' ';
    return;
  }
  split_wide(x + 1, y);
  auto& tail = cells_[index_of(x + 1, y)];
  tail.text = {U' ', 0, 0};
  tail.with = with;
  tail.is_tail = true;
}

void frame::add_mark(int x, int y, char32_t mark) {
  if (!contains(x, y)) return;
  auto& marks = cells_[index_of(x, y)].text;
  for (std::size_t i = 1; i < marks.size(); ++i)
    if (marks[i] == 0) {
      marks[i] = mark;
      return;
    }
}

int frame::put(int x, int y, std::string_view text, ink with, int limit) {
  const auto end = x + limit;
  int last = x;
  while (!text.empty()) {
    const auto next = first_code_point(text);
    const auto columns = static_cast<int>(width_of(next.value));
    if (x + columns > end) break;
    text.remove_prefix(next.length);
    if (changes_width(next.value)) continue;
    if (columns == 0) {
      add_mark(last, y, next.value);
      continue;
    }
    put(x, y, next.value, with);
    last = x;
    x += columns;
  }
  return x;
}

void frame::put_right(int end, int y, std::string_view text, ink with) {
  put(end - static_cast<int>(display_width(text)), y, text, with);
}

void frame::fill(area where, char32_t character, ink with) {
  for (int y = where.y; y < where.y + where.height; ++y)
    for (int x = where.x; x < where.x + where.width; ++x) put(x, y, character, with);
}

void frame::select(int x, int y, int width) {
  for (int i = x; i < x + width; ++i) {
    if (!contains(i, y)) continue;
    cells_[index_of(i, y)].is_selected = true;
    cells_[index_of(i, y)].with = ink::plain;
  }
}

std::string text_of(const frame& of, bool colour) {
  std::string out;
  for (int y = 0; y < of.height(); ++y) {
    int end = of.width();
    while (end > 0 && is_blank(of.at(end - 1, y), colour)) --end;
    std::string now;
    for (int x = 0; x < end; ++x) {
      const auto& each = of.at(x, y);
      if (each.is_tail) continue;
      if (colour)
        if (auto wanted = rendition_of(each); wanted != now) out += now = std::move(wanted);
      for (const auto part : each.text)
        if (part != 0) append_utf8(out, part);
    }
    if (colour && !now.empty()) out += "\x1b[0m";
    out += '\n';
  }
  return out;
}

}  // namespace hmn::cli::top
