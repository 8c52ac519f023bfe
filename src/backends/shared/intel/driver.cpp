// SPDX-License-Identifier: MIT OR Apache-2.0
#include "backends/shared/intel/driver.hpp"

#include <algorithm>
#include <cerrno>

#include "backends/drm/sensors.hpp"
#include "backends/shared/sysfs/attribute.hpp"
#include "model/scan.hpp"
#include "platform/file.hpp"

namespace hmn::intel {

int each_number(const std::string& folder, std::string_view prefix,
                function_ref<void(std::uint32_t)> visit) {
  std::uint64_t found = 0;
  const int error = platform::for_each_entry(folder.c_str(), [&](std::string_view name) {
    if (!name.starts_with(prefix)) return true;
    const auto number = scan::decimal(name.substr(prefix.size()));
    if (number && *number < 64) found |= std::uint64_t{1} << *number;
    return true;
  });
  for (std::uint32_t number = 0; number < 64; ++number) {
    if ((found >> number & 1) != 0) visit(number);
  }
  return error == ENOENT ? 0 : error;
}

bool looks_integrated(const drm::card& c, std::string_view chip_name, int& error) {
  if (!c.pci_bus_id.view().starts_with("0000:00:")) return false;
  return drm::find_hwmon(c.folder.view(), chip_name, &error).empty();
}

known_card& intel_driver::of(const drm::card& c) {
  const auto known = std::ranges::find(known_, c.number, &known_card::number);
  if (known != known_.end() && known->doubt == 0) return *known;
  known_card& k = known != known_.end() ? *known : known_.emplace_back();
  k.number = c.number;
  k.doubt = 0;
  k.is_integrated = looks_integrated(c, d_.name, k.doubt);
  return k;
}

void intel_driver::identify(drm::visit& v, device& who) {
  const known_card& k = of(v.of());
  if (k.doubt != 0) {
    failure why = sysfs::unreadable(d_.from, k.doubt, v.of().folder.view(), "hwmon");
    return v.diagnose(why, subject::devices, 0);
  }
  const bool is_integrated = k.is_integrated;
  who.kind = is_integrated ? device_kind::integrated : device_kind::discrete;
  who.memory_kind = is_integrated ? memory_kind::unified : memory_kind::dedicated;
}

// All memory of an integrated device is host RAM, whatever the region's name. Card memory reserved
// by firmware is "stolen-local0" or "stolen".
drm::region_role intel_driver::role_of(const drm::card& c, std::string_view region) const noexcept {
  for (const known_card& k : known_) {
    if (k.number == c.number && k.is_integrated) return drm::region_role::device;
  }
  return region == "stolen" ? drm::region_role::device : drm::usual_role(region);
}

}  // namespace hmn::intel
