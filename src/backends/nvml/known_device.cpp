// SPDX-License-Identifier: MIT OR Apache-2.0
#include "backends/nvml/known_device.hpp"

#include <cstring>

#include "model/compose.hpp"
#include "model/scan.hpp"
#include "platform/file.hpp"

namespace hmn::nvml {
namespace {

std::string_view terminated(const char* bytes, std::size_t capacity) noexcept {
  return {bytes, strnlen(bytes, capacity)};
}

}  // namespace

std::optional<pci_address> address_of(const pci_info& from) noexcept {
  if (const auto a = parse_pci_address(terminated(from.bus_id, sizeof(from.bus_id)))) return a;
  return parse_pci_address(terminated(from.bus_id_legacy, sizeof(from.bus_id_legacy)));
}

std::optional<std::uint32_t> render_minor(const std::string& sys_root, const pci_address& of) {
  constexpr std::string_view prefix = "renderD";
  std::optional<std::uint32_t> minor;
  const std::string folder =
      compose({sys_root, "/bus/pci/devices/", system_name(of).view(), "/drm"});
  platform::for_each_entry(folder.c_str(), [&](std::string_view name) {
    if (!name.starts_with(prefix)) return true;
    minor = scan::number<std::uint32_t>(name.substr(prefix.size()));
    return !minor;
  });
  return minor;
}

}  // namespace hmn::nvml
