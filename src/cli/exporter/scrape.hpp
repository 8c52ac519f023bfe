// SPDX-License-Identifier: MIT OR Apache-2.0
#pragma once
#include <chrono>
#include <optional>
#include <string>

#include "cli/exporter/sample.hpp"
#include "cli/exporter/settings.hpp"
#include "cli/measure/session.hpp"

namespace hmn::cli {

struct scraped {
  samples made;
  std::optional<std::string> search_failure;  // why it is not known which GPUs there are
};

// Reads the machine within the deadline; what could not be read is among the samples, with the
// reason.
scraped scrape(const session& in, const exporter_settings& how, std::chrono::milliseconds deadline);

}  // namespace hmn::cli
