// SPDX-License-Identifier: MIT OR Apache-2.0
#include "source/registry.hpp"

#include "backends/metal/metal_source.hpp"

namespace hmn {

std::unique_ptr<DeviceSource> make_metal(const Settings&) {
  return std::make_unique<metal::MetalSource>(mach::system_kernel(), metal::load_frameworks);
}

}  // namespace hmn
