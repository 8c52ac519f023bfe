// SPDX-License-Identifier: MIT OR Apache-2.0
#include "cli/exporter/scrape.hpp"

#include <algorithm>

#include "cli/exporter/collector.hpp"
#include "cli/measure/no_gpu.hpp"

namespace hmn::cli {

scraper::scraper(const session& in, const exporter_settings& how)
    : in_(in), how_(how), workloads_(how.per, in.is_simulated()) {}

scraped scraper::scrape(std::chrono::milliseconds deadline) {
  hypomnesis::snapshot_options what;
  what.collect = exported_parts;
  what.deadline = std::min(deadline, std::chrono::milliseconds(how_.timeout_ms));
  const auto end = user_names::clock::now() + what.deadline;
  const auto snapshot = in_.library().take(what);
  auto values = snapshot.values();
  devices_.complete(values.devices);
  const device_ids ids(values.devices);
  scraped out;
  collect(values, ids, out.made);
  rates_.update(values);
  for (const auto each : how_.compatible)
    collect_compatible(each, values.devices, rates_, out.made);
  workloads_.collect(values, ids, end, out.made);
  out.search_failure = why_search_failed(snapshot);
  return out;
}

}  // namespace hmn::cli
