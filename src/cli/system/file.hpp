// SPDX-License-Identifier: MIT OR Apache-2.0
#pragma once
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace hmn::cli {

// Paths are UTF-8 on every system.

extern const std::string_view path_separators;

bool is_there(const std::string& path);
bool is_folder(const std::string& path);
// Returns none for a readable file.
std::optional<std::string> why_unreadable(const std::string& path);
std::string absolute_path(const std::string& path);
// Returns whether two paths are of one file, through links too, which need not exist yet.
bool is_same_file(const std::string& path, const std::string& other);

// POSIX: returns the file that a path leads to through links, which need not exist yet.
std::string link_target(std::string path);
// POSIX: returns the path to open, which is another where descriptor 1 is meant, as by /dev/stdout.
std::string path_to_open(const std::string& path);

// Reads at most 1 MiB; returns none for an unreadable file.
std::optional<std::string> read_text_file(const std::string& path);
// Returns sorted names, without those that begin with a dot.
std::vector<std::string> list_folder(const std::string& path);

}  // namespace hmn::cli
