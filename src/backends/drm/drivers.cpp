// SPDX-License-Identifier: MIT OR Apache-2.0
#include "backends/drm/drivers.hpp"

#include "backends/drm/generic.hpp"

namespace hmn::drm {
namespace {

bool is_on(const settings& s, source id) {
  return (s.sources_off >> static_cast<unsigned>(id) & 1U) == 0;
}

}  // namespace

std::vector<std::unique_ptr<driver>> make_drivers(const settings& s) {
  std::vector<std::unique_ptr<driver>> all;
  if (is_on(s, source::drm)) all.push_back(make_generic());
  return all;
}

}  // namespace hmn::drm
