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
#if HMN_WITH_AMD_SMI || HMN_WITH_ROCM_SMI
#include "backends/amd_tool/amd_tool.hpp"
#endif
#if HMN_WITH_DMEM
#include "backends/dmem/dmem.hpp"
#endif
#if HMN_WITH_DXGI
#include "backends/dxgi/dxgi.hpp"
#endif
#if HMN_WITH_PDH
#include "backends/pdh/pdh.hpp"
#endif
#if HMN_WITH_TEGRA
#include "backends/tegra/tegra.hpp"
#endif
#if HMN_WITH_METAL
#include "backends/metal/metal.hpp"
#endif
#if HMN_WITH_MACMON
#include "backends/macmon/macmon.hpp"
#endif
#if HMN_WITH_SIMULATED
#include "backends/simulated/code.hpp"
#include "platform/stand_in.hpp"
#endif

namespace hmn {

namespace {

source_list make_real(const settings& s) {
  source_list list;
  list.host = make_os(s);
#if HMN_WITH_DMEM
  if (s.is_on(source::dmem)) list.host = make_dmem(std::move(list.host));
#endif
#if HMN_WITH_NVML
  if (s.is_on(source::nvml)) list.devices.push_back({make_nvml(s), 0});
#endif
#if HMN_WITH_NVIDIA_SMI
  if (s.is_on(source::nvidia_smi) && !s.no_subprocess) {
    list.devices.push_back({make_nvidia_smi(s), bit_of(source::nvml)});
  }
#endif
#if HMN_WITH_DXGI
  if (s.is_on(source::dxgi)) {
    std::unique_ptr<wddm::counters> counters;
#if HMN_WITH_PDH
    if (s.is_on(source::pdh)) counters = make_pdh();
#endif
    list.devices.push_back({make_dxgi(std::move(counters)), 0});
  }
#endif
#if HMN_WITH_DRM
  if (auto drm = make_drm(s)) list.devices.push_back({std::move(drm), 0});
#endif
#if HMN_WITH_AMD_SMI
  if (s.is_on(source::amd_smi) && !s.no_subprocess) {
    list.devices.push_back({make_amd_smi(s), bit_of(source::amdgpu)});
  }
#endif
#if HMN_WITH_ROCM_SMI
  // Comes after its successor, which reports per-process usage for each card.
  if (s.is_on(source::rocm_smi) && !s.no_subprocess) {
    list.devices.push_back({make_rocm_smi(s), bit_of(source::amdgpu) | bit_of(source::amd_smi)});
  }
#endif
#if HMN_WITH_TEGRA
  if (s.is_on(source::tegra)) list.devices.push_back({make_tegra(s), 0});
#endif
#if HMN_WITH_METAL
  if (s.is_on(source::metal)) list.devices.push_back({make_metal(s), 0});
#endif
#if HMN_WITH_MACMON
  if (s.is_on(source::macmon) && !s.no_subprocess) {
    list.devices.push_back({make_macmon(s), bit_of(source::metal)});
  }
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
    case source::dmem:
      return HMN_WITH_DMEM != 0;
    case source::tegra:
      return HMN_WITH_TEGRA != 0;
    case source::drm:
      return HMN_WITH_DRM != 0;
    case source::i915:
      return HMN_WITH_I915 != 0;
    case source::xe:
      return HMN_WITH_XE != 0;
    case source::rocm_smi:
      return HMN_WITH_ROCM_SMI != 0;
    case source::amd_smi:
      return HMN_WITH_AMD_SMI != 0;
    case source::amdgpu:
      return HMN_WITH_AMDGPU != 0;
    case source::kfd:
      return HMN_WITH_KFD != 0;
    case source::dxgi:
      return HMN_WITH_DXGI != 0;
    case source::pdh:
      return HMN_WITH_PDH != 0;
    case source::metal:
      return HMN_WITH_METAL != 0;
    case source::macmon:
      return HMN_WITH_MACMON != 0;
    case source::none:
      break;
  }
  return false;
}

}  // namespace

source_list make_sources(const settings& s) {
#if HMN_WITH_SIMULATED
  const bool simulates = !s.simulation_path.empty() && s.is_on(source::simulated);
  if (simulates || s.record) {
    constexpr simulated::surroundings here{make_real, make_os, platform::stand_in::exchange};
    if (const auto make = simulated::find_code()) return (*make)(s, here);
  }
#endif
  return make_real(s);
}

bool is_available(source s) noexcept {
#if HMN_WITH_SIMULATED
  if (s == source::simulated) return simulated::has_code();
#endif
  return is_compiled_in(s);
}

result<void> require(source s) {
  if (!is_compiled_in(s))
    return failure{status::unsupported, s, {}, "this library was built without it"};
#if HMN_WITH_SIMULATED
  if (s == source::simulated) {
    if (const auto code = simulated::find_code(); !code) return code.why();
  }
#endif
  return {};
}

}  // namespace hmn
