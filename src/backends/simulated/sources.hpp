// SPDX-License-Identifier: MIT OR Apache-2.0
#pragma once
#include <memory>

#include "backends/simulated/scenario.hpp"
#include "platform/recording.hpp"
#include "source/interface.hpp"
#include "source/registry.hpp"

namespace hmn {

struct simulated_machine {
  std::unique_ptr<host_source> host;  // null for a recorded machine: the system's own host is used
  std::unique_ptr<device_source> devices;
  std::shared_ptr<platform::recording> recorded;  // files of other sources
  settings others;                                // for other sources
  bool has_devices = false;                       // devices of its own at the start
};

// Opens settings.simulation_path: a machine file, or a folder of copied kernel files. A machine
// file also has the host's memory, unless it leaves that to `real`.
simulated_machine make_simulated(const settings& s, std::unique_ptr<host_source> real);

}  // namespace hmn

namespace hmn::simulated {

// Wrap sources, so that each of their calls is in the scope of a recording.
std::unique_ptr<host_source> watch(std::shared_ptr<platform::recording> in,
                                   std::unique_ptr<host_source> real);
// `reported` records values of a source that reads no files; it may be null.
std::unique_ptr<device_source> watch(std::shared_ptr<platform::recording> in,
                                     std::unique_ptr<device_source> real,
                                     const std::shared_ptr<scenario>& reported);

// How the registry makes this system's sources.
struct real_sources {
  source_list (*all)(const settings&);
  std::unique_ptr<host_source> (*host)(const settings&);
};

// Makes the sources of a simulated machine, or those of this system with a recorder.
source_list make_sources(const settings& s, const real_sources& real);

}  // namespace hmn::simulated
