// SPDX-License-Identifier: MIT OR Apache-2.0
#pragma once

#include <optional>
#include <vector>

#include "backends/intel/dialect.hpp"
#include "backends/intel/sysfs.hpp"

namespace hmn::intel {

class chip;

// What is remembered of a card.
struct known_card {
  slot number = 0;
  bool is_integrated = false;
  int doubt = 0;            // errno, where that could not be looked at
  bool is_asked = false;    // the kernel told its regions, so that the line above is certain
  bool tells_used = false;  // and to this caller how much of them is in use
  memory_regions sizes;     // as they were told; without what was in use
  energy_meter card_energy, package_energy;
};

class intel_driver final : public drm::driver {
 public:
  explicit intel_driver(const dialect& d) : d_(d) {}

  source from() const noexcept override { return d_.from; }
  bool serves(const drm::card& c) const noexcept override {
    return c.driver_name.view() == d_.name;
  }

  void identify(drm::visit& v, device& who) override;
  result<void> memory(drm::visit& v, pools& out) override;
  result<void> telemetry(drm::visit& v, std::uint32_t fields, hmn::telemetry& out) override;
  void metrics(drm::visit& v, bool slow, std::vector<metric>& out) override;

  drm::region_role role_of(const drm::card& c, std::string_view region) const noexcept override;
  // xe's show_fdinfo takes a reference on runtime power management, and i915's may read the memory
  // of the card.
  bool fdinfo_wakes(const drm::card&) const noexcept override { return true; }
  // xe's queries take a reference like all of its calls.
  bool keeps_awake(drm::awake_by) const noexcept override { return true; }
  std::string_view why_no_use() const noexcept override {
    return "this kernel's driver does not tell what its clients use";
  }

 private:
  known_card& of(const drm::card& c);
  // What the kernel tells now, or no more than it told before.
  result<memory_regions> regions(drm::visit& v, known_card& k) const;
  [[nodiscard]] result<memory_regions> ask(drm::visit& v) const;
  result<void> own_memory(drm::visit& v, const result<memory_regions>& told,
                          const memory_regions& sizes, pools& out) const;
  result<void> unified_memory(drm::visit& v, const result<memory_regions>& told, pools& out) const;
  void add_clients(drm::visit& v, pool& p) const;
  [[nodiscard]] failure why_not_all(const result<memory_regions>& told) const;
  std::optional<average_power> power_of(const drm::card& c, const chip& sensors);
  [[nodiscard]] failure fail(status code, const message_text& message, int error = 0) const {
    return failure_of{d_.from}(code, message, error);
  }

  const dialect& d_;
  std::vector<known_card> known_;
};

// Where it is likely: the first bus is the processor's own, but in a virtual machine also a card
// may be there. Only cards have a sensor chip.
bool looks_integrated(const drm::card& c, std::string_view chip_name, int& error);

}  // namespace hmn::intel
