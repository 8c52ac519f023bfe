// SPDX-License-Identifier: MIT OR Apache-2.0
#include "backends/drm/driver.hpp"

#include "backends/drm/generic.hpp"

#if HMN_WITH_AMDGPU
#include "backends/amdgpu/amdgpu.hpp"
#endif
#if HMN_WITH_KFD
#include "backends/kfd/kfd.hpp"
#endif
#if HMN_WITH_I915
#include "backends/i915/i915.hpp"
#endif
#if HMN_WITH_XE
#include "backends/xe/xe.hpp"
#endif

namespace hmn::drm {
namespace {

#if HMN_WITH_AMDGPU
std::unique_ptr<ComputeDriver> make_compute(const Settings& settings) {
#if HMN_WITH_KFD
  if (settings.is_enabled(Source::kfd)) return make_kfd(settings);
#endif
  static_cast<void>(settings);
  return nullptr;
}
#endif

}  // namespace

DriverList make_drivers(const Settings& settings) {
  DriverList all;
#if HMN_WITH_AMDGPU
  if (settings.is_enabled(Source::amdgpu)) all[0] = make_amdgpu(make_compute(settings));
#endif
#if HMN_WITH_I915
  if (settings.is_enabled(Source::i915)) all[1] = make_i915();
#endif
#if HMN_WITH_XE
  if (settings.is_enabled(Source::xe)) all[2] = make_xe();
#endif
  if (settings.is_enabled(Source::drm)) all[3] = make_generic();
  return all;
}

}  // namespace hmn::drm
