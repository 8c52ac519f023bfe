// SPDX-License-Identifier: MIT OR Apache-2.0
#include "backends/simulated/simulated.hpp"

#include <utility>

#include "backends/simulated/driver.hpp"
#include "backends/simulated/host.hpp"
#include "backends/simulated/machine_file.hpp"
#include "backends/simulated/plain_tree.hpp"
#include "backends/simulated/roots.hpp"
#include "model/compose.hpp"
#include "platform/file.hpp"
#include "platform/process.hpp"

namespace hmn {
namespace {

using platform::recording;
using simulated::machine_file;

bool is_folder(const std::string& path) {
  const auto found = platform::status_of(path.c_str());
  return found && found.value.is_directory;
}

result<simulated::script> empty_machine() {
  auto read = simulated::read_script("{}", 0);
  return std::move(*std::get_if<simulated::script>(&read));
}

failure no_machine(const std::string& folder) {
  return {status::argument,
          source::simulated,
          {},
          "there is no machine in the folder " + folder +
              ": expected \"sys\", \"proc\", \"class/drm\" or folders of cards in it"};
}

std::shared_ptr<machine_file> open_folder(simulated_machine& m, const std::string& folder) {
  const auto tree = std::make_shared<recording>(recording::use::replay);
  if (!simulated::open_plain_tree(folder, m.others, *tree)) {
    return std::make_shared<machine_file>(folder, no_machine(folder));
  }
  m.recorded = tree;
  return std::make_shared<machine_file>(folder, empty_machine());
}

std::shared_ptr<machine_file> open_file(simulated_machine& m, const std::string& path) {
  const auto file = std::make_shared<machine_file>(path);
  const simulated::recorded_machine kept = file->recorded();
  m.recorded = kept.answers;
  if (!m.recorded) return file;
  m.has_devices = file->has_devices();
  for (std::size_t i = 0; i < simulated::roots.size(); ++i) {
    const simulated::root& r = simulated::roots[i];
    const bool is_moved = (kept.moved >> i & 1) != 0;
    m.others.*r.place = is_moved ? compose({simulated::moved_roots, r.name}) : std::string(r.usual);
  }
  return file;
}

}  // namespace

simulated_machine make_simulated(const settings& s, std::unique_ptr<host_source> real) {
  simulated_machine m;
  m.others = s;
  m.others.sources_off |= bit_of(source::nvml);
  const auto file = is_folder(s.simulation_path) ? open_folder(m, s.simulation_path)
                                                 : open_file(m, s.simulation_path);
  if (!m.recorded) m.host = std::make_unique<simulated::host>(file, std::move(real));
  m.devices = std::make_unique<simulated::driver>(file, s.wake_devices);
  return m;
}

}  // namespace hmn
