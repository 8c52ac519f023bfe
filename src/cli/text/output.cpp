// SPDX-License-Identifier: MIT OR Apache-2.0
#include "cli/text/output.hpp"

#include <fmt/format.h>

#include <string>
#include <string_view>

#include "cli/system/streams.hpp"
#include "cli/text/unicode.hpp"
#include "model/character.hpp"

namespace hmn::cli {

WriteResult write_chunk(std::string_view text) {
  const auto end = write_stream(Stream::output, text);
  if (end.reason == WriteOutcome::Reason::all_written) return WriteResult::written;
  if (end.reason == WriteOutcome::Reason::reader_gone) return WriteResult::reader_gone;
  write_notice("cannot write to standard output: " + format_write_error(end));
  return WriteResult::failed;
}

ExitCode write_output(std::string_view text) {
  return write_chunk(text) == WriteResult::failed ? ExitCode::failed : ExitCode::done;
}

void write_report(std::string_view lines) {
  write_stream(Stream::error, lines);
}

void write_notice(std::string_view message) {
  write_stream(Stream::error, std::string("hmn: ").append(escape_for_text(message)).append("\n"));
}

namespace {

// Returns the code of ECMA-48, "select graphic rendition".
std::string_view rendition_code(Tone tone) noexcept {
  switch (tone) {
    case Tone::strong:
      return "1";
    case Tone::faint:
      return "2";
    case Tone::good:
      return "32";
    case Tone::warning:
      return "33";
    case Tone::bad:
      return "31";
    case Tone::plain:
      break;
  }
  return {};
}

}  // namespace

Tone choose_usage_tone(double fraction) noexcept {
  if (fraction >= 0.9) return Tone::bad;
  return fraction >= 0.7 ? Tone::warning : Tone::good;
}

std::string paint(std::string_view text, Tone tone, bool colour) {
  const auto code = rendition_code(tone);
  if (!colour || code.empty() || text.empty()) return std::string(text);
  return std::string("\x1b[").append(code).append("m").append(text).append("\x1b[0m");
}

namespace {

constexpr unsigned default_columns = 80;

// Finds the codeset between the dot and the modifier: "de_DE.UTF-8@euro".
bool is_utf8_locale(std::string_view locale) noexcept {
  const auto dot = locale.find('.');
  if (dot == std::string_view::npos) return false;
  const auto codeset = locale.substr(dot + 1, locale.find('@') - dot - 1);
  return equal_ignoring_case(codeset, "utf-8") || equal_ignoring_case(codeset, "utf8");
}

}  // namespace

Style choose_style(const Environment& environment, ColourChoice choice) noexcept {
  Style style;
  const bool is_dumb = environment.term.empty() || environment.term == "dumb";
  style.terminal = environment.is_terminal || choice == ColourChoice::always;
  style.colour = choice == ColourChoice::always ||
                 (choice == ColourChoice::automatic && environment.is_terminal && !is_dumb &&
                  environment.no_color.empty());
  style.ascii_only = !is_utf8_locale(environment.locale);
  if (!style.terminal) return style;
  style.unicode = !style.ascii_only && environment.term != "dumb";
  if (!environment.is_terminal) return style;
  style.width = environment.columns > 0 ? environment.columns : default_columns;
  if (!is_dumb) style.height = environment.lines;
  return style;
}

std::string RedrawnLines::remove() {
  const auto line_count = line_count_;
  line_count_ = 0;
  // ECMA-48: cursor up, erase to the end of the screen.
  return line_count == 0 ? std::string() : fmt::format("\r\x1b[{}A\x1b[J", line_count);
}

std::string RedrawnLines::replace(std::string_view lines) {
  auto out = remove();
  line_count_ = static_cast<std::size_t>(std::count(lines.begin(), lines.end(), '\n'));
  return out.append(lines);
}

}  // namespace hmn::cli
