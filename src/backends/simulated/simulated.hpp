// SPDX-License-Identifier: MIT OR Apache-2.0
#pragma once

#include <memory>

#include "platform/recording.hpp"
#include "source/interface.hpp"

namespace hmn {

struct simulated_machine {
  std::unique_ptr<host_source> host;  // null for a recorded machine: the system's own host is used
  std::unique_ptr<device_source> devices;
  std::shared_ptr<platform::recording> recorded;  // files of other sources
  settings others;                                // for other sources
  bool has_devices = false;                       // devices of its own at the start
};

// Machine of settings.simulation_path: a machine file, or a folder of copied kernel files. Host
// memory comes from a machine file too, unless the file leaves it to `real`.
simulated_machine make_simulated(const settings& s, std::unique_ptr<host_source> real);

}  // namespace hmn
