// SPDX-License-Identifier: MIT OR Apache-2.0
#pragma once
#include <memory>

#include "backends/simulated/scenario.hpp"
#include "platform/recording.hpp"
#include "source/interface.hpp"
#include "source/registry.hpp"

namespace hmn {

struct SimulatedMachine {
  std::unique_ptr<HostSource> host;  // null for a recorded machine: the system's own host is used
  std::unique_ptr<DeviceSource> devices;
  std::shared_ptr<platform::Recording> recorded;  // files of other sources
  Settings others;                                // for other sources
  bool has_devices = false;                       // devices of its own at the start
};

// Opens settings.simulation_path: a machine file, or a folder of copied kernel files. A machine
// file also has the host's memory, unless it leaves that to `real`.
SimulatedMachine make_simulated(const Settings& s, std::unique_ptr<HostSource> real);

}  // namespace hmn

namespace hmn::simulated {

// Wrap sources, so that each of their calls is in the scope of a recording.
std::unique_ptr<HostSource> watch(std::shared_ptr<platform::Recording> in,
                                  std::unique_ptr<HostSource> real);
// `reported` records values of a source that reads no files; it may be null.
std::unique_ptr<DeviceSource> watch(std::shared_ptr<platform::Recording> in,
                                    std::unique_ptr<DeviceSource> real,
                                    const std::shared_ptr<Scenario>& reported);

// How the registry makes this system's sources.
struct RealSources {
  SourceList (*all)(const Settings&);
  std::unique_ptr<HostSource> (*host)(const Settings&);
};

// Makes the sources of a simulated machine, or those of this system with a recorder.
SourceList make_sources(const Settings& s, const RealSources& real);

}  // namespace hmn::simulated
