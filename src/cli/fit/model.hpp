// SPDX-License-Identifier: MIT OR Apache-2.0
#pragma once
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "cli/expected.hpp"
#include "cli/fit/architecture.hpp"
#include "cli/fit/weights.hpp"

namespace hmn::cli::fit {

// Properties of a model, read before any of it is loaded.
struct Model {
  std::string name;                          // from the file, else its path
  std::string format;                        // "GGUF", "safetensors", "configuration"
  std::string weight_type;                   // form of the weights, if known
  std::optional<Architecture> architecture;  // absent if only weights are known
  Weights weights;
  bool weights_are_counted = false;  // computed from the architecture, not read from a file
  Notes notes;                       // about the weights
};

// Name of a part: "name-00002-of-00007.gguf".
struct PartName {
  std::string prefix;  // "name"
  unsigned number = 0;
  unsigned count = 0;
};
std::optional<PartName> parse_part_name(std::string_view file, std::string_view suffix);
// Returns all parts of the file's set; the file alone if it is not a part.
std::vector<std::string> list_parts(const std::string& file, std::string_view suffix);

// Reads a GGUF file (with all its parts), a safetensors file or its index, a config.json, or a
// folder of these.
Expected<Model> read_model(const std::string& path);

}  // namespace hmn::cli::fit
