// SPDX-License-Identifier: MIT OR Apache-2.0
#pragma once
#include <string>

#include "cli/exporter/sample.hpp"
#include "cli/exporter/text_format.hpp"

namespace hmn::cli {

// Writes the samples by family, in the order in which each family came first. Of two samples of a
// family with the same labels the first counts.
std::string write_samples(const samples& of, text_format format);

}  // namespace hmn::cli
