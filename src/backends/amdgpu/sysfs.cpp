// SPDX-License-Identifier: MIT OR Apache-2.0
#include "backends/amdgpu/sysfs.hpp"

#include <cerrno>

#include "backends/drm/attribute.hpp"

namespace hmn::amdgpu {

platform::errno_or<double> read_quantity(std::string_view folder, std::string_view file,
                                         const quantity& as) noexcept {
  const auto raw = drm::read_signed(folder, file);
  if (!raw) return {0, raw.error};
  const double value = static_cast<double>(raw.value) * as.unit;
  return {value, value < as.least || value > as.most ? drm::no_number : 0};
}

failure unread(int error, std::string_view folder, std::string_view file) {
  if (error != EPERM) return drm::unreadable(source::amdgpu, error, folder, file);
  return {status::asleep,
          source::amdgpu,
          {native_domain::error_number, error},
          {folder, "/", file, " is not told now: the card was suspended or is in a reset"}};
}

}  // namespace hmn::amdgpu
