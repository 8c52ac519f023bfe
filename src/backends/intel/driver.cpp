// SPDX-License-Identifier: MIT OR Apache-2.0
#include "backends/intel/driver.hpp"

#include "backends/drm/hwmon.hpp"

namespace hmn::intel {
namespace {

constexpr std::string_view first_bus = "0000:00:";

}  // namespace

bool looks_integrated(const drm::card& c, std::string_view chip_name) {
  return c.pci_bus_id.view().starts_with(first_bus) &&
         drm::find_hwmon(c.folder.view(), chip_name).empty();
}

failure intel_driver::fail(status code, const message_text& message, int error) const {
  native_code native;
  if (error != 0) native = {native_domain::error_number, error};
  return {code, d_.from, native, message};
}

known_card& intel_driver::of(const drm::card& c) {
  for (known_card& k : known_) {
    if (k.number == c.number) return k;
  }
  known_card& fresh = known_.emplace_back();
  fresh.number = c.number;
  fresh.is_integrated = looks_integrated(c, d_.name);
  return fresh;
}

void intel_driver::identify(drm::visit& v, device& who) {
  const bool is_integrated = of(v.of()).is_integrated;
  who.kind = is_integrated ? device_kind::integrated : device_kind::discrete;
  who.memory_kind = is_integrated ? memory_kind::unified : memory_kind::dedicated;
}

// All that an integrated device allocates is host RAM, whatever the region is called. What firmware
// set aside of a card's memory is "stolen-local0" or plain "stolen".
drm::region_role intel_driver::role_of(const drm::card& c, std::string_view region) const noexcept {
  for (const known_card& k : known_) {
    if (k.number == c.number && k.is_integrated) return drm::region_role::device;
  }
  return region == "stolen" ? drm::region_role::device : drm::usual_role(region);
}

}  // namespace hmn::intel
