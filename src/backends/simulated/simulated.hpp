// SPDX-License-Identifier: MIT OR Apache-2.0
#pragma once

#include <memory>

#include "backends/backend.hpp"
#include "platform/recording.hpp"

namespace hmn {

struct simulated_machine {
  std::unique_ptr<host_source> host;  // none for a recorded machine: the system's own reads it
  std::unique_ptr<device_source> devices;
  std::shared_ptr<platform::recording> recorded;  // what other sources read beside it
  settings others;                                // for those
  bool has_devices = false;                       // of its own, at the beginning
};

// The machine of settings.simulation_path: a machine file, or a folder of copied kernel files. Host
// memory comes from a machine file too, unless the file leaves that to `real`.
simulated_machine make_simulated(const settings& s, std::unique_ptr<host_source> real);

}  // namespace hmn
