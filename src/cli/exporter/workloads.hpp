// SPDX-License-Identifier: MIT OR Apache-2.0
#pragma once
#include <hypomnesis.hpp>

#include <cstdint>
#include <string_view>
#include <vector>

#include "cli/exporter/devices.hpp"
#include "cli/exporter/samples.hpp"
#include "cli/measure/processes.hpp"
#include "cli/measure/session.hpp"

namespace hmn::cli {

constexpr grouping exported_groupings[] = {grouping::process, grouping::user, grouping::container,
                                           grouping::pod,     grouping::job,  grouping::unit};

// Most groups of a kind that are written for each GPU: those with the most memory.
constexpr std::size_t most_groups = 100;

// Returns whether the metric of that name is written where memory is added up by these.
bool is_written(std::string_view name, const std::vector<grouping>& by);

// Adds up what processes use of each GPU. Not for several threads at once.
class workloads {
 public:
  workloads(std::vector<grouping> by, const session& in)
      : by_(std::move(by)), in_(in), users_(in.is_simulated()) {}

  // Waits for names of users until that time.
  void collect(const hypomnesis::snapshot_values& from, const device_ids& ids,
               user_names::clock::time_point until, samples& to);

 private:
  std::vector<grouping> by_;
  const session& in_;
  user_names users_;
};

}  // namespace hmn::cli
