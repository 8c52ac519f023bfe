// SPDX-License-Identifier: MIT OR Apache-2.0
#pragma once
#include <functional>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace hmn::cli {

struct found_program {
  std::string path;
  // Windows has cmd.exe read such files, whose own quoting no argument is safe from.
  bool is_batch = false;
};

// Where Windows looks: the folders of the system, then those of PATH. Not the current folder nor
// that of hmn, where anybody may have put a program; and of PATH only what is absolute. A word with
// a folder in it is taken as it stands.
std::optional<found_program> find_program(const std::string& word,
                                          const std::vector<std::string>& folders,
                                          const std::function<bool(const std::string&)>& is_file);
// The folders of a PATH that are absolute; quotes around one are taken away.
std::vector<std::string> folders_of_path(std::string_view path);

}  // namespace hmn::cli
