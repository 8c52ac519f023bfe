// SPDX-License-Identifier: MIT OR Apache-2.0
#include "cli/text/output.hpp"

#include <fmt/format.h>

#include <string>
#include <string_view>

#include "cli/system/streams.hpp"
#include "cli/text/unicode.hpp"
#include "model/character.hpp"

namespace hmn::cli {

WriteResult write_part(std::string_view text) {
  const auto end = write_stream(Stream::output, text);
  if (end.how == WriteEnd::Reason::all_written) return WriteResult::written;
  if (end.how == WriteEnd::Reason::reader_gone) return WriteResult::reader_gone;
  write_notice("cannot write to standard output: " + message_of(end));
  return WriteResult::failed;
}

ExitCode write_output(std::string_view text) {
  return write_part(text) == WriteResult::failed ? ExitCode::failed : ExitCode::done;
}

void write_report(std::string_view lines) {
  write_stream(Stream::error, lines);
}

void write_notice(std::string_view message) {
  write_stream(Stream::error, std::string("hmn: ").append(escape_for_text(message)).append("\n"));
}

namespace {

// Returns the code of ECMA-48, "select graphic rendition".
std::string_view code_of(Tone with) noexcept {
  switch (with) {
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

Tone tone_of_usage(double fraction) noexcept {
  if (fraction >= 0.9) return Tone::bad;
  return fraction >= 0.7 ? Tone::warning : Tone::good;
}

std::string paint(std::string_view text, Tone with, bool on) {
  const auto code = code_of(with);
  if (!on || code.empty() || text.empty()) return std::string(text);
  return std::string("\x1b[").append(code).append("m").append(text).append("\x1b[0m");
}

namespace {

constexpr unsigned usual_columns = 80;

// Finds the codeset between the dot and the modifier: "de_DE.UTF-8@euro".
bool names_utf8(std::string_view locale) noexcept {
  const auto dot = locale.find('.');
  if (dot == std::string_view::npos) return false;
  const auto codeset = locale.substr(dot + 1, locale.find('@') - dot - 1);
  return equal_ignoring_case(codeset, "utf-8") || equal_ignoring_case(codeset, "utf8");
}

}  // namespace

Style choose_style(const Surroundings& around, ColourChoice choice) noexcept {
  Style chosen;
  const bool dumb = around.term.empty() || around.term == "dumb";
  chosen.terminal = around.is_terminal || choice == ColourChoice::always;
  chosen.colour =
      choice == ColourChoice::always ||
      (choice == ColourChoice::automatic && around.is_terminal && !dumb && around.no_color.empty());
  chosen.ascii_only = !names_utf8(around.locale);
  if (!chosen.terminal) return chosen;
  chosen.unicode = !chosen.ascii_only && around.term != "dumb";
  if (!around.is_terminal) return chosen;
  chosen.width = around.columns > 0 ? around.columns : usual_columns;
  if (!dumb) chosen.height = around.lines;
  return chosen;
}

std::string RedrawnLines::remove() {
  const auto drawn = drawn_;
  drawn_ = 0;
  // ECMA-48: cursor up, erase to the end of the screen.
  return drawn == 0 ? std::string() : fmt::format("\r\x1b[{}A\x1b[J", drawn);
}

std::string RedrawnLines::replace(std::string_view lines) {
  auto out = remove();
  drawn_ = static_cast<std::size_t>(std::count(lines.begin(), lines.end(), '\n'));
  return out.append(lines);
}

}  // namespace hmn::cli
