// SPDX-License-Identifier: MIT OR Apache-2.0
#pragma once
#include <optional>
#include <string>

#include "cli/expected.hpp"
#include "cli/fit/architecture.hpp"
#include "cli/fit/weights.hpp"

namespace hmn::cli::fit {

// Properties of a model, read before any of it is loaded.
struct model {
  std::string name;                   // from the file, else its path
  std::string format;                 // "GGUF", "safetensors", "configuration"
  std::string stored;                 // form of the weights, if known
  std::optional<architecture> shape;  // absent if only weights are known
  weights of;
  bool weights_are_counted = false;  // computed from the architecture, not read from a file
};

// Reads a GGUF file (with all its parts), a safetensors file or its index, a config.json, or a
// folder of these.
expected<model> read_model(const std::string& path);

}  // namespace hmn::cli::fit
