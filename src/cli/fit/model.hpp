// SPDX-License-Identifier: MIT OR Apache-2.0
#pragma once
#include <optional>
#include <string>

#include "cli/expected.hpp"
#include "cli/fit/architecture.hpp"
#include "cli/fit/weights.hpp"

namespace hmn::cli::fit {

// What the files at a path tell, before anything of them is loaded.
struct model {
  std::string name;                   // as the file calls itself, else its path
  std::string format;                 // "GGUF", "safetensors", "configuration"
  std::string stored;                 // how the weights are, where it is told
  std::optional<architecture> shape;  // absent where nothing but weights is known
  weights of;
  bool weights_are_counted = false;  // from the architecture, not from a file's table
};

// A GGUF file (all its parts), a safetensors file or its index, a config.json, a folder of them.
expected<model> read_model(const std::string& path);

}  // namespace hmn::cli::fit
