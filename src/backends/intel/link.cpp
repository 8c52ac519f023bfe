// SPDX-License-Identifier: MIT OR Apache-2.0
#include "backends/intel/link.hpp"

#include "backends/drm/attribute.hpp"
#include "backends/drm/discovery.hpp"
#include "backends/drm/pcie.hpp"
#include "model/device.hpp"
#include "model/pci_address.hpp"

namespace hmn::intel {
namespace {

std::string_view parent_of(std::string_view folder) noexcept {
  const std::size_t slash = folder.rfind('/');
  return folder.substr(0, slash == std::string_view::npos ? 0 : slash);
}

bool is_own_bridge(std::string_view folder) noexcept {
  const std::string_view name = folder.substr(folder.rfind('/') + 1);
  if (normal_pci_address(name).empty()) return false;
  constexpr std::uint64_t pci_bridge = 0x0604;
  const auto maker = drm::read_hex(folder, "vendor");
  const auto what = drm::read_hex(folder, "class");
  return maker.value == vendor::intel && what.value >> 8 == pci_bridge;
}

}  // namespace

std::string link_folder(std::string_view device_folder) {
  const std::string_view upper = parent_of(parent_of(device_folder));
  const bool is_inside =
      drm::read_generation(device_folder) == 1U && drm::read_width(device_folder) == 1U;
  if (!is_inside) return std::string(device_folder);
  return std::string(is_own_bridge(upper) ? upper : std::string_view());
}

}  // namespace hmn::intel
