// SPDX-License-Identifier: MIT OR Apache-2.0
#include "backends/simulated/simulated.hpp"

#include <utility>

#include "backends/simulated/driver.hpp"
#include "backends/simulated/host.hpp"
#include "backends/simulated/machine_file.hpp"

namespace hmn {

simulated_machine make_simulated(const settings& s, std::unique_ptr<host_source> real) {
  const auto file = std::make_shared<simulated::machine_file>(s.simulation_path);
  return {std::make_unique<simulated::host>(file, std::move(real)),
          std::make_unique<simulated::driver>(file, s.wake_devices)};
}

}  // namespace hmn
