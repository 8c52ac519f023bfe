// SPDX-License-Identifier: MIT OR Apache-2.0
#include "source/registry.hpp"

#include "backends/macmon/macmon_source.hpp"

extern "C" unsigned int geteuid(void);

namespace hmn {
namespace {

bool is_root() {
  return geteuid() == 0;
}

}  // namespace

std::unique_ptr<DeviceSource> make_macmon(const Settings& settings) {
  return std::make_unique<macmon::MacmonSource>(settings.macmon_path, is_root());
}

}  // namespace hmn
