// SPDX-License-Identifier: MIT OR Apache-2.0
#include "backends/simulated/simulated.hpp"

#include <utility>

#include "backends/simulated/driver.hpp"
#include "backends/simulated/host.hpp"
#include "backends/simulated/machine_file.hpp"

namespace hmn {

void make_simulated(const settings& s, source_list& list) {
  const auto file = std::make_shared<simulated::machine_file>(s.simulation_path);
  list.host = std::make_unique<simulated::host>(file, std::move(list.host));
  list.devices.clear();
  list.devices.push_back({std::make_unique<simulated::driver>(file, s.wake_devices), false});
}

}  // namespace hmn
