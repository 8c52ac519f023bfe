// SPDX-License-Identifier: MIT OR Apache-2.0
#pragma once
#include <hypomnesis.hpp>

#include <optional>
#include <string>
#include <vector>

#include "cli/measure/watched.hpp"
#include "cli/text/terminal.hpp"

namespace hmn::cli {

// Time and spill state of one sample.
struct watch_moment {
  std::uint64_t ms = 0;
  hypomnesis::spill_info spill{};
  std::string text{};  // for people
};

// Formats +0 B, +5 MiB, -1.2 GiB; ? if unknown.
std::string change_text(std::optional<std::int64_t> bytes);

// Returns the samples of one time as a table; none if the terminal is too narrow.
std::optional<std::string> watch_table(const watch_moment& at, const std::vector<watched_row>& rows,
                                       const style& as);
std::string watch_header(bool ascii_only);
std::string watch_line(const watch_moment& at, const watched_row& of);
std::string watch_json(const watch_moment& at, const watched_row& of);
std::string watch_summary(const watched& all, const hypomnesis::spill_info& spill, const style& as);
std::string watch_summary_json(const watched& all, const hypomnesis::spill_info& spill,
                               const std::vector<hypomnesis::episode>& episodes);

}  // namespace hmn::cli
