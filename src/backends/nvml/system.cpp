// SPDX-License-Identifier: MIT OR Apache-2.0
#include "backends/nvml/system.hpp"

namespace hmn::nvml {

// WSL's and NixOS' driver folders come last. Never libnvidia-ml.so, which is a link-time stub.
std::span<const char* const> library_places() noexcept {
  static constexpr const char* places[] = {"libnvidia-ml.so.1",
                                           "/usr/lib/wsl/lib/libnvidia-ml.so.1",
                                           "/run/opengl-driver/lib/libnvidia-ml.so.1"};
  return places;
}

bool is_counted_by_system(const platform::library&, handle) noexcept {
  return false;
}

}  // namespace hmn::nvml
