// SPDX-License-Identifier: MIT OR Apache-2.0
#include "source/registry.hpp"

#include "backends/metal/metal_source.hpp"

namespace hmn {

std::unique_ptr<device_source> make_metal(const settings&) {
  return std::make_unique<metal::metal_source>(mach::system_kernel(), metal::load_frameworks);
}

}  // namespace hmn
