// SPDX-License-Identifier: MIT OR Apache-2.0
#pragma once
#include <cstdint>
#include <string>
#include <vector>

#include "cli/expected.hpp"
#include "cli/fit/architecture.hpp"
#include "cli/fit/parameters.hpp"
#include "cli/fit/storage.hpp"

namespace hmn::cli::fit {

// Properties of a model read from a config.json.
struct model_config {
  architecture shape;
  counted_parameters parameters;
  storage stored;
};
expected<model_config> parse_config(std::string text);

}  // namespace hmn::cli::fit
