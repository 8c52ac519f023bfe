// SPDX-License-Identifier: MIT OR Apache-2.0
#pragma once
#include "cli/expected.hpp"
#include "cli/fit/architecture.hpp"
#include "cli/fit/gguf.hpp"

namespace hmn::cli::fit {

// Reads the keys `<architecture>.*` of a GGUF file.
expected<architecture> architecture_of(const gguf& file);

}  // namespace hmn::cli::fit
