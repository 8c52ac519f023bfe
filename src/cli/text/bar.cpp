// SPDX-License-Identifier: MIT OR Apache-2.0
#include "cli/text/bar.hpp"

#include <algorithm>

#include "cli/text/utf8.hpp"

namespace hmn::cli {
namespace {

constexpr char32_t full_block = 0x2588;

unsigned filled_steps(double fraction, unsigned steps) {
  if (!(fraction > 0)) return 0;
  if (fraction >= 1) return steps;
  return std::clamp(static_cast<unsigned>(fraction * steps + 0.5), 1u, std::max(steps - 1, 1u));
}

std::string ascii_cells(double fraction, unsigned cells) {
  const auto filled = filled_steps(fraction, cells);
  return std::string(filled, '#') + std::string(cells - filled, '-');
}

// Uses U+2588 for a whole block, U+2589 for seven eighths, … U+258F for one eighth.
std::string block_cells(double fraction, unsigned cells) {
  const auto eighths = filled_steps(fraction, cells * 8);
  std::string out;
  for (unsigned i = 0; i < eighths / 8; ++i) append_utf8(out, full_block);
  const auto part = eighths % 8;
  if (part > 0) append_utf8(out, full_block + 8 - part);
  out.append(cells - (eighths + 7) / 8, ' ');
  return out;
}

}  // namespace

std::string draw_bar(double fraction, unsigned cells, bool unicode) {
  std::string out(1, '[');
  out += unicode ? block_cells(fraction, cells) : ascii_cells(fraction, cells);
  return out += ']';
}

}  // namespace hmn::cli
