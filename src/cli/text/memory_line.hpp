// SPDX-License-Identifier: MIT OR Apache-2.0
#pragma once
#include <hypomnesis.hpp>

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "cli/text/terminal.hpp"

namespace hmn::cli {

// Line "label: before free F MiB / T MiB after"; on a terminal with a bar and in columns.
struct memory_line {
  std::string label;
  std::string before;              // "asleep, "
  std::string_view verb = "free";  // word for `free`
  std::string_view mark;           // "~": estimated, ">=": at least
  std::optional<std::uint64_t> free;
  std::optional<std::uint64_t> total;
  std::string after;
  std::optional<double> used;  // fraction, for the bar
  bool silent = false;         // has only the text before and after, without values
};

std::string_view mark_of(hypomnesis::note notes) noexcept;
std::string render(const std::vector<memory_line>& lines, const style& as);

}  // namespace hmn::cli
