// SPDX-License-Identifier: MIT OR Apache-2.0
#pragma once

#include <optional>
#include <vector>

#include "backends/shared/intel/dialect.hpp"
#include "backends/shared/intel/sysfs.hpp"

namespace hmn::intel {

class chip;

// Cached data of a card.
struct known_card {
  slot number = 0;
  bool is_integrated = false;
  int doubt = 0;          // errno if that could not be determined
  bool is_asked = false;  // the kernel has reported its regions, so that is_integrated is certain
  bool reports_used = false;  // including usage, which needs privileges
  memory_regions sizes;       // as reported; without usage
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
  // xe's show_fdinfo takes a runtime power reference, and i915's may read the card's memory.
  bool fdinfo_wakes(const drm::card&) const noexcept override { return true; }
  // Queries of xe take a runtime power reference, like all of its calls.
  bool keeps_awake(drm::awake_by) const noexcept override { return true; }
  std::string_view why_no_use() const noexcept override {
    return "memory of clients is not reported by this kernel's driver";
  }

 private:
  known_card& of(const drm::card& c);
  // Current regions, or cached ones if the kernel reports no more.
  result<memory_regions> regions(drm::visit& v, known_card& k) const;
  [[nodiscard]] result<memory_regions> ask(drm::visit& v) const;
  result<void> own_memory(drm::visit& v, const result<memory_regions>& reported,
                          const memory_regions& sizes, pools& out) const;
  result<void> unified_memory(drm::visit& v, const result<memory_regions>& reported,
                              pools& out) const;
  void add_clients(drm::visit& v, pool& p) const;
  [[nodiscard]] failure why_not_all(const result<memory_regions>& reported) const;
  std::optional<average_power> power_of(const drm::card& c, const chip& sensors);
  [[nodiscard]] failure fail(status code, const message_text& message, int error = 0) const {
    return failure_of{d_.from}(code, message, error);
  }

  const dialect& d_;
  std::vector<known_card> known_;
};

// Whether it is probably integrated: on the first bus, which is the CPU's own, except in a virtual
// machine. Only cards have a sensor chip.
bool looks_integrated(const drm::card& c, std::string_view chip_name, int& error);

}  // namespace hmn::intel
