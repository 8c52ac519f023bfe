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

// Adds a sample, and next to it that it is a lower bound.
void add_sum(const Family& of, const LabelSet& with, std::optional<std::uint64_t> value,
             bool is_at_least, Samples& to);

// Returns the devices of which not all processes are known.
PartialLists unlisted_in(const hypomnesis::snapshot_values& from);

// Adds the samples of the families in families.def, but for those of processes and groups by name.
void collect(const hypomnesis::snapshot_values& from, const DeviceIds& ids, Samples& to);

}  // namespace hmn::cli
