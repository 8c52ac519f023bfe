// SPDX-License-Identifier: MIT OR Apache-2.0
#include "cli/exporter/scrape.hpp"

#include <algorithm>

#include "cli/exporter/collector.hpp"
#include "cli/measure/no_gpu.hpp"

namespace hmn::cli {

scraped scrape(const session& in, const exporter_settings& how,
               std::chrono::milliseconds deadline) {
  hypomnesis::snapshot_options what;
  what.collect = exported_parts;
  what.deadline = std::min(deadline, std::chrono::milliseconds(how.timeout_ms));
  const auto snapshot = in.library().take(what);
  scraped out;
  collect(snapshot.values(), out.made);
  out.search_failure = why_search_failed(snapshot);
  return out;
}

}  // namespace hmn::cli
