// SPDX-License-Identifier: MIT OR Apache-2.0
#include "backends/os/os.hpp"

#include "backends/os/macos/host.hpp"

namespace hmn {

std::unique_ptr<HostSource> make_os(const Settings&) {
  return std::make_unique<macos::MacosHost>(mach::system_kernel());
}

}  // namespace hmn
