// SPDX-License-Identifier: MIT OR Apache-2.0
#pragma once
#include <cstddef>
#include <string>
#include <string_view>

#include "cli/expected.hpp"
#include "cli/system/environment.hpp"

namespace hmn::cli {

enum class WriteResult { written, reader_gone, failed };
// Reports a failure on standard error.
WriteResult write_chunk(std::string_view text);
// Succeeds for a closed pipe; reports any other failure on standard error.
ExitCode write_output(std::string_view text);
// Prints whole lines on standard error, already escaped for a terminal.
void write_report(std::string_view lines);
// Prints "hmn: <message>\n", escaped for a terminal.
void write_notice(std::string_view message);

enum class ColourChoice { automatic, always, never };
constexpr std::string_view colour_choice_words[] = {"auto", "always", "never"};

enum class Tone { plain, strong, faint, good, warning, bad };

// Returns the tone of memory that is full to this fraction.
Tone choose_usage_tone(double fraction) noexcept;
std::string paint(std::string_view text, Tone tone, bool colour);

// Style of text output.
struct Style {
  bool terminal = false;  // bars and columns; else plain lines
  bool colour = false;
  bool unicode = false;     // marks and bars beyond ASCII
  bool ascii_only = false;  // the locale has ASCII only
  unsigned width = 0;       // columns; 0: no limit
  unsigned height = 0;      // lines that can be redrawn; 0: none
};

// Returns the mark of shortened text.
inline std::string_view choose_ellipsis(const Style& style) noexcept {
  return style.unicode ? "\u2026" : "...";
}

Style choose_style(const Environment& environment, ColourChoice choice) noexcept;

// Last lines of a terminal, which are redrawn in place.
class RedrawnLines {
 public:
  // Returns what to write to show whole lines instead of the last ones.
  std::string replace(std::string_view lines);
  // Returns what to write to remove the last ones, so that other text can follow.
  std::string remove();

 private:
  std::size_t line_count_ = 0;
};

}  // namespace hmn::cli
