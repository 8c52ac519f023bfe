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

constexpr Grouping exported_groupings[] = {Grouping::process, Grouping::user, Grouping::container,
                                           Grouping::pod,     Grouping::job,  Grouping::unit};

// Most groups of a kind that are written for each GPU: those with the most memory.
constexpr std::size_t max_groups = 100;

// Returns whether the metric of that name is written where memory is added up by these.
bool is_exported(std::string_view name, const std::vector<Grouping>& groupings);

// Adds up what processes use of each GPU. Not for several threads at once.
class Workloads {
 public:
  Workloads(std::vector<Grouping> groupings, const Session& session)
      : groupings_(std::move(groupings)), session_(session), users_(session.is_simulated()) {}

  // Waits for names of users until that time.
  void collect(const hypomnesis::snapshot_values& snapshot, const DeviceIds& ids,
               UserNames::Clock::time_point deadline, Samples& samples);

 private:
  std::vector<Grouping> groupings_;
  const Session& session_;
  UserNames users_;
};

}  // namespace hmn::cli
