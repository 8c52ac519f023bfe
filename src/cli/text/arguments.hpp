// SPDX-License-Identifier: MIT OR Apache-2.0
#pragma once
#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "cli/expected.hpp"

namespace hmn::cli {

// Returns the position of the word, or a failure that names it and the words that are expected.
Expected<std::size_t> choose_word(std::string_view option, std::string_view text,
                                  std::span<const std::string_view> words);

// Returns "; did you mean ps?"; empty: no known word is similar.
std::string suggest_word(std::string_view word, std::span<const std::string_view> words);

// Returns the parts of a text between commas, empty ones too.
std::vector<std::string_view> split_list(std::string_view text, char separator = ',');

// Returns a failure that names the expected value if the text is given but empty.
std::optional<Failure> refuse_empty(std::string_view option, const std::optional<std::string>& text,
                                    std::string_view expected_value);

// Parses "500ms", "30s", "5m", "1h", and "30" as seconds, to milliseconds, never 0.
Expected<std::uint64_t> parse_duration(std::string_view text);

// Parses an option's duration; failures name the option.
Expected<std::uint64_t> parse_duration_option(const char* option, const std::string& text);
// Parses --interval: at most 49 days.
Expected<std::uint32_t> parse_interval(const std::string& text);

// Parses "20GiB", "1.5 TiB", "512M", "80GB" to bytes, never 0. K, M, G and T alone are binary, as
// in other tools; KB, MB, GB and TB are powers of 1000. The unit is required.
Expected<std::uint64_t> parse_size_argument(std::string_view text);

// Matches a shell pattern over code points: * ? [abc] [a-z] [!a]; a backslash escapes the next one.
bool glob_matches(std::string_view pattern, std::string_view text) noexcept;
// Matches everything without a pattern, and no unknown text with one; ASCII in any case.
bool is_selected(const std::optional<std::string>& pattern, const std::optional<std::string>& text);

}  // namespace hmn::cli
