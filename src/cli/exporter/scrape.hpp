// SPDX-License-Identifier: MIT OR Apache-2.0
#pragma once
#include <chrono>
#include <optional>
#include <string>

#include "cli/exporter/known_devices.hpp"
#include "cli/exporter/sample.hpp"
#include "cli/exporter/settings.hpp"
#include "cli/exporter/transfer_rates.hpp"
#include "cli/exporter/workloads.hpp"
#include "cli/measure/session.hpp"

namespace hmn::cli {

struct scraped {
  samples made;
  std::optional<std::string> search_failure;  // why it is not known which GPUs there are
};

// Reads the machine, again and again. Not for several threads at once.
class scraper {
 public:
  scraper(const session& in, const exporter_settings& how);
  scraper(const scraper&) = delete;
  scraper& operator=(const scraper&) = delete;

  // Ends by the deadline; what could not be read is among the samples, with the reason.
  scraped scrape(std::chrono::milliseconds deadline);

 private:
  const session& in_;
  const exporter_settings& how_;
  known_devices devices_;
  transfer_rates rates_;
  workloads workloads_;
};

}  // namespace hmn::cli
