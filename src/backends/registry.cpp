// SPDX-License-Identifier: MIT OR Apache-2.0
#include "backends/registry.hpp"

#include <utility>

#include "backends/os/os.hpp"
#if HMN_WITH_NVML
#include "backends/nvml/nvml.hpp"
#endif
#if HMN_WITH_NVIDIA_SMI
#include "backends/nvidia_smi/nvidia_smi.hpp"
#endif
#if HMN_WITH_DRM
#include "backends/drm/drm.hpp"
#endif
#if HMN_WITH_SIMULATED
#include "backends/simulated/simulated.hpp"
#endif

namespace hmn {

source_list make_sources(const settings& s) {
  source_list list;
  list.host = make_os(s);
#if HMN_WITH_SIMULATED
  if (!s.simulation_path.empty() && s.is_on(source::simulated)) {
    simulated_machine machine = make_simulated(s, std::move(list.host));
    list.host = std::move(machine.host);
    list.devices.push_back({std::move(machine.devices), false});
    return list;
  }
#endif
#if HMN_WITH_NVML
  if (s.is_on(source::nvml)) list.devices.push_back({make_nvml(s), false});
#endif
#if HMN_WITH_NVIDIA_SMI
  if (s.is_on(source::nvidia_smi) && !s.no_subprocess) {
    list.devices.push_back({make_nvidia_smi(s), true});
  }
#endif
#if HMN_WITH_DRM
  if (s.is_on(source::drm)) list.devices.push_back({make_drm(s), false});
#endif
  return list;
}

bool is_compiled_in(source s) noexcept {
  switch (s) {
    case source::os:
      return true;
    case source::nvml:
      return HMN_WITH_NVML != 0;
    case source::nvidia_smi:
      return HMN_WITH_NVIDIA_SMI != 0;
    case source::simulated:
      return HMN_WITH_SIMULATED != 0;
    case source::drm:
      return HMN_WITH_DRM != 0;
    case source::none:
      break;
  }
  return false;
}

}  // namespace hmn
