// SPDX-License-Identifier: MIT OR Apache-2.0
#include "backends/drm/generic.hpp"

#include <algorithm>
#include <array>
#include <cerrno>

#include "backends/drm/attribute.hpp"
#include "backends/drm/discovery.hpp"
#include "backends/drm/fail.hpp"
#include "backends/drm/generic_sensors.hpp"

namespace hmn::drm {
namespace {

bool is_among(std::string_view name, std::span<const std::string_view> names) noexcept {
  return std::ranges::find(names, name) != names.end();
}

bool is_virtual(const card& c) noexcept {
  constexpr std::string_view names[]{"virtio_gpu", "vmwgfx", "vboxvideo", "hyperv_drm"};
  return c.bus.view() == "virtio" || is_among(c.driver_name.view(), names);
}

// What is no card on a bus is a part of the chip that the host's processor is, and allocates from
// the host's RAM; so do the neural processors of AMD and Intel, which show as PCI functions.
bool is_unified(const card& c) noexcept {
  constexpr std::string_view names[]{"amdxdna", "intel_vpu"};
  return !is_virtual(c) && (c.pci_bus_id.empty() || is_among(c.driver_name.view(), names));
}

pool unified_pool() noexcept {
  pool p;
  p.kind = pool_kind::unified;
  p.from = source::drm;
  p.is_main = true;
  return p;
}

class generic_driver final : public driver {
 public:
  source from() const noexcept override { return source::drm; }
  // But for the parts of a card that amdgpu alone can tell from each other.
  bool serves(const card& c) const noexcept override { return !is_partition_node(c); }

  // NVIDIA's own driver has nodes of its own beside those of DRM.
  bool sees_every_client(const card& c) const noexcept override {
    return c.driver_name.view() != "nvidia";
  }

  void identify(visit& v, device& who) override {
    if (is_virtual(v.of())) who.kind = device_kind::virtual_device;
    if (!is_unified(v.of())) return;
    who.kind = device_kind::integrated;
    who.memory_kind = memory_kind::unified;
  }

  result<void> memory(visit& v, pools& out) override;
  result<void> telemetry(visit& v, std::uint32_t fields, hmn::telemetry& out) override {
    return read_sensors(v, fields, out);
  }
  void metrics(visit& v, bool, std::vector<metric>& out) override { read_metrics(v, out); }

  // All of a unified device's regions are its memory, whatever their names.
  region_role role_of(const card& c, std::string_view region) const noexcept override {
    return is_unified(c) ? region_role::device : usual_role(region);
  }

  // panfrost and panthor count only when root asks for it.
  bool counts_engines(const card& c) const noexcept override {
    constexpr std::string_view names[]{"panfrost", "panthor"};
    if (!is_among(c.driver_name.view(), names)) return true;
    const auto profiling = read_number(c.folder.view(), "profiling");
    return !profiling || profiling.value != 0;
  }

  // Their show_fdinfo adds up counters that are in RAM.
  bool fdinfo_wakes(const card& c) const noexcept override {
    constexpr std::string_view names[]{"v3d",  "vc4",     "panfrost", "panthor",
                                       "lima", "etnaviv", "nouveau",  "virtio_gpu"};
    return !is_among(c.driver_name.view(), names) && !c.driver_name.view().starts_with("msm");
  }
};

result<void> generic_driver::memory(visit& v, pools& out) {
  if (!is_unified(v.of())) {
    return fail(status::unsupported, {"the driver ", v.of().driver_name.view(),
                                      " does not tell how much memory the device has or uses"});
  }
  pool p = unified_pool();
  result<card_use> all = v.clients();
  if (all && all->sum.used()) {
    p.used = all->sum.used();
    p.accounting = all->sum.resident ? accounting::resident : accounting::committed;
    // The sum of those that can be seen, and nothing of the driver's own.
    p.notes |= note::lower_bound;
  } else if (all) {
    v.remark(fail(status::unsupported, "no client of the device tells what it uses"),
             subject::pools, pool_field::used);
  } else {
    v.remark(std::move(all.why()), subject::pools, pool_field::used);
  }
  out.add(p);
  return {};
}

}  // namespace

std::unique_ptr<driver> make_generic() {
  return std::make_unique<generic_driver>();
}

}  // namespace hmn::drm
