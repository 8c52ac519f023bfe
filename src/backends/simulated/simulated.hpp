// SPDX-License-Identifier: MIT OR Apache-2.0
#pragma once

#include <memory>

#include "backends/backend.hpp"

namespace hmn {

struct simulated_machine {
  std::unique_ptr<host_source> host;
  std::unique_ptr<device_source> devices;
};

// The machine of settings.simulation_path. Its host memory comes from the file too, unless the file
// leaves that to `real`.
simulated_machine make_simulated(const settings& s, std::unique_ptr<host_source> real);

}  // namespace hmn
