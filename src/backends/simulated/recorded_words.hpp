// SPDX-License-Identifier: MIT OR Apache-2.0
//
// Words of a recording, shared by its reader and writer.
#pragma once

#include <array>
#include <string_view>

#include "backends/simulated/words.hpp"
#include "platform/recording.hpp"

namespace hmn::simulated {

// Words in the order of recorded_file::part.
inline constexpr std::array<std::string_view, platform::recorded_file::parts> part_names = {
    "read", "link", "list", "status", "open"};

inline constexpr std::uint32_t is_directory = 1;
inline constexpr std::uint32_t is_character_device = 2;
inline constexpr std::array type_words = {entry("other", 0U), entry("directory", is_directory),
                                          entry("character", is_character_device)};

using outcome_kind = platform::outcome::kind;
inline constexpr std::array outcome_words = {
    entry("finished", outcome_kind::finished),
    entry("not_found", outcome_kind::not_found),
    entry("not_runnable", outcome_kind::not_runnable),
    entry("timed_out", outcome_kind::timed_out),
    entry("output_too_long", outcome_kind::output_too_long),
};

// Not inline: mingw-w64 puts it into sections of two kinds, which do not link.
constexpr std::array language_words = {entry("i915", platform::query_language::i915),
                                       entry("xe", platform::query_language::xe)};

}  // namespace hmn::simulated
