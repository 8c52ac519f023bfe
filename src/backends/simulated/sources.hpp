// SPDX-License-Identifier: MIT OR Apache-2.0
#pragma once
#include <memory>

#include "backends/simulated/device_recording.hpp"
#include "platform/recording.hpp"
#include "source/interface.hpp"
#include "source/registry.hpp"

namespace hmn {

struct SimulatedMachine {
  std::unique_ptr<HostSource> host;  // null for a recorded machine: the system's own host is used
  std::unique_ptr<DeviceSource> devices;
  std::shared_ptr<platform::Recording> recording;  // files of other sources
  Settings other_settings;                         // for other sources
  bool has_devices = false;                        // devices of its own at the start
};

// Opens settings.simulation_path: a machine file, or a folder of copied kernel files. A machine
// file also has the host's memory, unless it leaves that to `real`.
SimulatedMachine open_simulated_machine(const Settings& settings,
                                        std::unique_ptr<HostSource> real_host);

}  // namespace hmn

namespace hmn::simulated {

// Wrap sources, so that each of their calls is in the scope of a recording.
std::unique_ptr<HostSource> wrap_source(std::shared_ptr<platform::Recording> recording,
                                        std::unique_ptr<HostSource> real);
// `device_recording` records values of a source that reads no files; it may be null.
std::unique_ptr<DeviceSource> wrap_source(std::shared_ptr<platform::Recording> recording,
                                          std::unique_ptr<DeviceSource> real,
                                          const std::shared_ptr<DeviceRecording>& device_recording);

// How the registry makes this system's sources.
struct RealSources {
  SourceList (*make_all)(const Settings&);
  std::unique_ptr<HostSource> (*make_host)(const Settings&);
};

// Makes the sources of a simulated machine, or those of this system with a recorder.
SourceList make_sources(const Settings& settings, const RealSources& real);

}  // namespace hmn::simulated
