// SPDX-License-Identifier: MIT OR Apache-2.0
#include "backends/drm/drivers.hpp"

#include "backends/drm/generic.hpp"

namespace hmn::drm {

std::vector<std::unique_ptr<driver>> make_drivers(const settings& s) {
  std::vector<std::unique_ptr<driver>> all;
  if (s.is_on(source::drm)) all.push_back(make_generic());
  return all;
}

}  // namespace hmn::drm
