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

// Values of options, read from what was given. Each returns what is wrong with it, and leaves the
// default where nothing was given.
namespace hmn::cli {

constexpr std::string_view a_path = "the path of a file";
constexpr std::string_view a_path_or_dash = "a file's path or -";
constexpr std::string_view a_name_pattern = "a pattern for names, as in 'python*'";
constexpr std::string_view a_user = "the name or the number of a user";

std::optional<Failure> read_interval(const Arguments& from, std::uint32_t& to);
std::optional<Failure> read_time(const Arguments& from, const char* name,
                                 std::optional<std::uint64_t>& to);
// A time that fits the type is as good as for ever.
std::optional<Failure> read_milliseconds(
    const Arguments& from, const char* name, std::uint32_t& to,
    std::uint64_t longest = std::numeric_limits<std::uint32_t>::max());
std::optional<Failure> read_count(const Arguments& from, const char* name,
                                  std::optional<std::uint64_t>& to);
std::optional<Failure> read_sort(const Arguments& from, std::span<const std::string_view> among,
                                 SortKey& to);
// A text that must not be empty.
std::optional<Failure> read_text(const Arguments& from, std::string_view name,
                                 std::string_view wanted, std::optional<std::string>& to);
std::optional<std::uint32_t> whole_number(std::string_view text);
// Parses "8192", "128K", "1M" (powers of 1024), "131_072" and "131,072".
std::optional<std::uint64_t> parse_token_count(std::string_view text);

// Reads --json and --output of a report.
std::optional<Failure> read_reports(const Arguments& from, std::vector<FileToWrite>& to);

std::optional<Failure> only_one_of(const Arguments& from, std::string_view one,
                                   std::string_view other);

}  // namespace hmn::cli
