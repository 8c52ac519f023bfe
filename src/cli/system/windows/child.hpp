// SPDX-License-Identifier: MIT OR Apache-2.0
#pragma once

#include <functional>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace hmn::cli {

struct ProgramFile {
  std::string path;
  // Run by cmd.exe, whose quoting makes no argument safe.
  bool is_batch = false;
};

// Searches the system's folders, then the absolute ones of PATH. Excludes the current folder and
// that of hmn, where any user may have put a program. Uses a name with a folder unchanged.
std::optional<ProgramFile> find_program(const std::string& word,
                                        const std::vector<std::string>& folders,
                                        const std::function<bool(const std::string&)>& is_file);
// Returns the absolute folders of a PATH, without enclosing quotes.
std::vector<std::string> list_path_folders(std::string_view path);

}  // namespace hmn::cli
