// SPDX-License-Identifier: MIT OR Apache-2.0
#pragma once

#include <hypomnesis.hpp>

#include "cli/exporter/devices.hpp"
#include "cli/exporter/samples.hpp"
#include "cli/measure/processes.hpp"

namespace hmn::cli {

// What a scrape reads.
constexpr auto exported_parts = hypomnesis::part::system | hypomnesis::part::devices |
                                hypomnesis::part::pools | hypomnesis::part::processes |
                                hypomnesis::part::telemetry | hypomnesis::part::metrics |
                                hypomnesis::part::groups;

// Adds a sample and, if it is a lower bound, a sample that says so.
void add_sum(const Family& family, const LabelSet& labels, std::optional<std::uint64_t> value,
             bool is_at_least, Samples& samples);

// Returns the devices of which not all processes are known.
PartialLists find_partial_lists(const hypomnesis::snapshot_values& snapshot);

// Adds the samples of the families in families.def, but for those of processes and groups by name.
void collect_samples(const hypomnesis::snapshot_values& snapshot, const DeviceIds& ids,
                     Samples& samples);

}  // namespace hmn::cli
