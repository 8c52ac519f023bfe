// SPDX-License-Identifier: MIT OR Apache-2.0
#include "backends/simulated/sources.hpp"

#include <utility>

#include "backends/simulated/recorder.hpp"
#include "backends/simulated/simulated.hpp"
#include "backends/simulated/watched.hpp"

namespace hmn::simulated {
namespace {

// Sources of this system, in the scope of a recording.
source_list make_watched(const settings& s, const real_sources& real,
                         const std::shared_ptr<platform::recording>& in,
                         const std::shared_ptr<scenario>& reported = nullptr) {
  const platform::override_scope scope(in.get());
  source_list list = real.all(s);
  list.host = watch(in, std::move(list.host));
  for (listed_source& each : list.devices)
    each = {watch(in, std::move(each.device), reported), each.fallback_for};
  return list;
}

source_list make_recorded(const settings& s, const real_sources& real) {
  auto keeps = std::make_unique<recorder>(s);
  source_list list = make_watched(s, real, keeps->answers(), keeps->reported());
  list.recorder = std::move(keeps);
  return list;
}

source_list make_simulation(const settings& s, const real_sources& real) {
  simulated_machine machine = make_simulated(s, real.host(s));
  source_list list;
  if (machine.recorded) list = make_watched(machine.others, real, machine.recorded);
  // Recorded devices are those of NVML, which is skipped in their favour.
  for (listed_source& each : list.devices) {
    const bool is_for_nvml = (each.fallback_for & bit_of(source::nvml)) != 0;
    if (machine.has_devices && is_for_nvml) each.fallback_for |= bit_of(source::simulated);
  }
  if (machine.host) list.host = std::move(machine.host);
  list.devices.insert(list.devices.begin(), {std::move(machine.devices), 0});
  return list;
}

}  // namespace

source_list make_sources(const settings& s, const real_sources& real) {
  const bool simulates = !s.simulation_path.empty() && s.is_on(source::simulated);
  return simulates ? make_simulation(s, real) : make_recorded(s, real);
}

}  // namespace hmn::simulated
