// SPDX-License-Identifier: MIT OR Apache-2.0
#include "backends/os/os.hpp"

#include "backends/os/macos/host.hpp"

namespace hmn {

std::unique_ptr<host_source> make_os(const settings&) {
  return std::make_unique<macos::macos_host>(mach::system_kernel());
}

}  // namespace hmn
