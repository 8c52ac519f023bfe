// SPDX-License-Identifier: MIT OR Apache-2.0
#pragma once
#include <optional>
#include <span>
#include <string>
#include <string_view>

#include "cli/expected.hpp"
#include "cli/system/streams.hpp"

namespace hmn::cli {

// File that an option names for writing.
struct file_to_write {
  const char* option = "";
  std::string path;  // "-": standard output
  // Endings of names that mark what this option writes: an existing file of another name is
  // replaced with --force only.
  std::span<const std::string_view> suffixes;
  bool force = false;

  bool may_replace(std::string_view name) const;
};

// Takes in `file` where the path leads.
failure is_there_already(const file_to_write& to, const std::string& file);
std::optional<failure> write_to_stream(stream to, std::string_view text);

// Returns why the file cannot be written before its text is made, without opening it.
std::optional<failure> why_not_writable(const file_to_write& to);

enum class readers { owner, by_umask, everyone };

// Writes a file, completely or not at all. An existing file passes on its owner and its mode;
// `allowed` is for a new one (on Windows the folder determines it). A file whose folder lets no
// other take its place, and what is no regular file, is written in place.
std::optional<failure> write_file(const file_to_write& to, std::string_view text,
                                  readers allowed = readers::by_umask);

}  // namespace hmn::cli
