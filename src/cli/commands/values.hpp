// SPDX-License-Identifier: MIT OR Apache-2.0
#pragma once
#include <cstdint>
#include <limits>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "cli/commands/commands.hpp"

// Readers of option values. Each returns a failure for an invalid value, and leaves the default if
// the option was not given.
namespace hmn::cli {

constexpr std::string_view expected_path = "the path of a file";
constexpr std::string_view expected_path_or_dash = "a file's path or -";
constexpr std::string_view expected_name_pattern = "a pattern for names, as in 'python*'";
constexpr std::string_view expected_user = "the name or the number of a user";

std::optional<Failure> read_interval(const Arguments& arguments, std::uint32_t& interval_ms);
std::optional<Failure> read_duration(const Arguments& arguments, const char* name,
                                     std::optional<std::uint64_t>& duration_ms);
// Longer times are cut to `max_ms`, which is as good as forever.
std::optional<Failure> read_milliseconds(
    const Arguments& arguments, const char* name, std::uint32_t& milliseconds,
    std::uint64_t max_ms = std::numeric_limits<std::uint32_t>::max());
std::optional<Failure> read_count(const Arguments& arguments, const char* name,
                                  std::optional<std::uint64_t>& count);
std::optional<Failure> read_sort(const Arguments& arguments,
                                 std::span<const std::string_view> choices, SortKey& sort);
// Reads a text, which must not be empty. `expected_value` describes it in the failure.
std::optional<Failure> read_text(const Arguments& arguments, std::string_view name,
                                 std::string_view expected_value, std::optional<std::string>& text);
std::optional<std::uint32_t> parse_whole_number(std::string_view text);
// Parses "8192", "128K", "1M" (powers of 1024), "131_072" and "131,072".
std::optional<std::uint64_t> parse_token_count(std::string_view text);

// Reads --json and --output of a report.
std::optional<Failure> read_reports(const Arguments& arguments, std::vector<OutputTarget>& reports);

std::optional<Failure> check_exclusive(const Arguments& arguments, std::string_view first,
                                       std::string_view second);

}  // namespace hmn::cli
