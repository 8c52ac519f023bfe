// SPDX-License-Identifier: MIT OR Apache-2.0
#pragma once
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "cli/expected.hpp"

namespace hmn::cli::fit {

// Name of a part: "name-00002-of-00007.gguf".
struct part_name {
  std::string prefix;  // "name"
  unsigned number = 0;
  unsigned count = 0;
};
std::optional<part_name> parse_part_name(std::string_view file, std::string_view suffix);
// Returns all parts of the file's set; the file alone if it is not a part.
std::vector<std::string> parts_of(const std::string& file, std::string_view suffix);

// Returns the folder of a file, with its slash; "" where the path has none.
std::string folder_of(const std::string& path);
std::string file_name_of(const std::string& path);

// Finds the file in a folder that describes the model.
expected<std::string> find_model(const std::string& folder);

}  // namespace hmn::cli::fit
