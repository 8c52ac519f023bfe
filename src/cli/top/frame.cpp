// SPDX-License-Identifier: MIT OR Apache-2.0
#include "cli/top/frame.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "cli/text/numbers.hpp"
#include "cli/text/unicode.hpp"
#include "cli/text/words.hpp"
#include "cli/units.hpp"

namespace hmn::cli::top {
namespace {

enum Basic : short { red = 1, green, yellow, blue, magenta, cyan };

struct RampLook {
  short colours[ramp_steps];
  short low, middle, high;  // of 8 colours
};
constexpr RampLook ramp_looks[ramp_count] = {
    {{71, 107, 143, 179, 215, 209, 203, 197}, green, yellow, red},
    {{61, 62, 68, 69, 75, 74, 80, 86}, blue, cyan, cyan},
    {{95, 131, 137, 173, 179, 215, 221, 227}, yellow, yellow, red},
    {{66, 72, 108, 144, 180, 216, 210, 203}, green, magenta, red},
};

constexpr unsigned first_of_ramps = static_cast<unsigned>(Ink::last_word) + 1;

Look look_of_ramp(unsigned position) noexcept {
  const auto& scale = ramp_looks[position / ramp_steps];
  const auto step = position % ramp_steps;
  const short basic_colour = step < 3 ? scale.low : step < 6 ? scale.middle : scale.high;
  return {scale.colours[step], basic_colour, false, false};
}

}  // namespace

Ink ink_of(Ramp scale, double fraction) noexcept {
  const auto step = static_cast<unsigned>(std::clamp(fraction, 0.0, 1.0) * (ramp_steps - 1) + 0.5);
  return static_cast<Ink>(first_of_ramps + static_cast<unsigned>(scale) * ramp_steps + step);
}

Ink ink_of(Tone with) noexcept {
  switch (with) {
    case Tone::strong:
      return Ink::strong;
    case Tone::faint:
      return Ink::faint;
    case Tone::good:
      return Ink::good;
    case Tone::warning:
      return Ink::warning;
    case Tone::bad:
      return Ink::bad;
    case Tone::plain:
      break;
  }
  return Ink::plain;
}

Look look_of(Ink with) noexcept {
  switch (with) {
    case Ink::plain:
      return {};
    case Ink::strong:
      return {-1, -1, true, false};
    case Ink::faint:
      return {245, -1, false, true};
    case Ink::good:
      return {71, green, false, false};
    case Ink::warning:
      return {179, yellow, false, false};
    case Ink::bad:
      return {203, red, true, false};
    case Ink::title:
      return {75, cyan, true, false};
    case Ink::border:
      return {240, -1, false, true};
    case Ink::accent:
      return {80, cyan, false, false};
  }
  return look_of_ramp(static_cast<unsigned>(with) - first_of_ramps);
}

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

bool is_blank(const Cell& of, bool colour) {
  return of.text[0] == U' ' && of.text[1] == 0 && !(colour && of.is_selected) && !of.is_tail;
}

// Returns the code of ECMA-48, "select graphic rendition".
std::string rendition_of(const Cell& of) {
  const auto how = look_of(of.with);
  std::string codes = "0";
  if (of.is_selected) codes += ";7";
  if (how.is_bold) codes += ";1";
  if (how.is_dim && how.colour < 0) codes += ";2";
  if (how.colour >= 0) codes += fmt::format(";38;5;{}", how.colour);
  return "\x1b[" + codes + "m";
}

}  // namespace

Frame::Frame(int width, int height, Glyphs with)
    : width_(std::max(width, 0)),
      height_(std::max(height, 0)),
      glyphs_(with),
      cells_(static_cast<std::size_t>(width_) * static_cast<std::size_t>(height_)) {}

// Blanks the other half of a wide character that loses one.
void Frame::split_wide(int x, int y) {
  auto& here = cells_[index_of(x, y)];
  if (here.is_tail && x > 0) cells_[index_of(x - 1, y)].text = {U' ', 0, 0};
  if (x + 1 < width_) {
    auto& next = cells_[index_of(x + 1, y)];
    if (next.is_tail && !here.is_tail) next = {};
  }
  here.is_tail = false;
}

void Frame::put(int x, int y, char32_t character, Ink with) {
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

void Frame::add_mark(int x, int y, char32_t mark) {
  if (!contains(x, y)) return;
  auto& marks = cells_[index_of(x, y)].text;
  for (std::size_t i = 1; i < marks.size(); ++i)
    if (marks[i] == 0) {
      marks[i] = mark;
      return;
    }
}

int Frame::put(int x, int y, std::string_view text, Ink with, int limit) {
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

void Frame::put_right(int end, int y, std::string_view text, Ink with) {
  put(end - static_cast<int>(display_width(text)), y, text, with);
}

void Frame::fill(Area where, char32_t character, Ink with) {
  for (int y = where.y; y < where.y + where.height; ++y)
    for (int x = where.x; x < where.x + where.width; ++x) put(x, y, character, with);
}

void Frame::select(int x, int y, int width) {
  for (int i = x; i < x + width; ++i) {
    if (!contains(i, y)) continue;
    cells_[index_of(i, y)].is_selected = true;
    cells_[index_of(i, y)].with = Ink::plain;
  }
}

std::string text_of(const Frame& of, bool colour) {
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

ValueText missing_text(bool is_unsupported) {
  return {std::string(sign_of_missing(is_unsupported)), Ink::faint};
}

ValueText bytes_text(std::optional<std::uint64_t> bytes, std::string_view mark,
                     bool is_unsupported) {
  if (!bytes) return missing_text(is_unsupported);
  return {std::string(mark) + short_bytes(static_cast<double>(*bytes))};
}

ValueText rate_text(std::optional<double> bytes_per_second, bool is_unsupported) {
  if (!bytes_per_second) return missing_text(is_unsupported);
  return {short_bytes(*bytes_per_second) + "/s"};
}

ValueText percent_text(std::optional<double> percent, Ramp with, bool is_unsupported) {
  if (!percent) return missing_text(is_unsupported);
  return {fmt::format("{:.0f}%", *percent), ink_of(with, *percent / 100)};
}

std::string degrees_text(double celsius, bool unicode) {
  return fmt::format("{:.0f}{}", celsius, unicode ? "\u00b0C" : "C");
}

std::string elapsed_text(std::uint64_t ns) {
  const auto seconds = ns / static_cast<std::uint64_t>(ns_per_s);
  const auto minutes = seconds / 60, hours = minutes / 60, days = hours / 24;
  if (days > 0) return fmt::format("{}d{:02}h", days, hours % 24);
  if (hours > 0) return fmt::format("{}:{:02}:{:02}", hours, minutes % 60, seconds % 60);
  if (minutes > 0) return fmt::format("{}:{:02}", minutes, seconds % 60);
  return fmt::format("{}s", seconds);
}

}  // namespace hmn::cli::top
