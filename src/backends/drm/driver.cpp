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
std::unique_ptr<ComputeDriver> make_compute(const Settings& s) {
#if HMN_WITH_KFD
  if (s.is_on(Source::kfd)) return make_kfd(s);
#endif
  static_cast<void>(s);
  return nullptr;
}
#endif

}  // namespace

DriverList make_drivers(const Settings& s) {
  DriverList all;
#if HMN_WITH_AMDGPU
  if (s.is_on(Source::amdgpu)) all[0] = make_amdgpu(make_compute(s));
#endif
#if HMN_WITH_I915
  if (s.is_on(Source::i915)) all[1] = make_i915();
#endif
#if HMN_WITH_XE
  if (s.is_on(Source::xe)) all[2] = make_xe();
#endif
  if (s.is_on(Source::drm)) all[3] = make_generic();
  return all;
}

}  // namespace hmn::drm
