// SPDX-License-Identifier: MIT OR Apache-2.0
#include "backends/drm/generic.hpp"

#include <algorithm>
#include <array>
#include <cerrno>
#include <span>

#include "backends/drm/discovery.hpp"
#include "backends/drm/driver.hpp"
#include "backends/drm/sensors.hpp"
#include "backends/shared/sysfs/attribute.hpp"
#include "model/scan.hpp"
#include "platform/file.hpp"

namespace hmn::drm {
namespace {

using field = FieldSet;

// Documentation/driver-api/thermal/nouveau_thermal.rst: pwm1 is in percent. Reading fan1_input
// measures the fan for up to 250 ms.
void read_fan(std::string_view folder, bool is_nouveau, sensors& s, hmn::telemetry& out) {
  using namespace telemetry_field;
  std::optional<double> rpm, duty;
  s.take(folder, {"pwm1"}, fan_percent, is_nouveau ? unit::percent : unit::duty_of_255, duty);
  if (!is_nouveau) {
    s.take(folder, {"fan1_input"}, fan_rpm, unit::rpm, rpm);
  } else if (s.wants(fan_rpm)) {
    s.refuse(fan_rpm, fail(status::unsupported, "not read: nouveau takes too long to report it"));
  }
  out.fan_rpm = whole(rpm);
  out.fan_percent = whole(duty);
}

void read_hwmon(std::string_view folder, sensors& s, hmn::telemetry& out) {
  using namespace telemetry_field;
  s.take(folder, {"temp1_input"}, temperature_celsius, unit::celsius, out.temperature_celsius);
  s.take(folder, {"power1_average", "power1_input"}, power_watts, unit::watts, out.power_watts);
  s.take(folder, {"power1_cap", "power1_max"}, power_limit_watts, unit::watts,
         out.power_limit_watts);
  s.take(folder, {"energy1_input"}, energy_joules, unit::joules, out.energy_joules);
}

// Finds <device>/devfreq/<name>.
std::string devfreq_of(std::string_view device_folder) {
  const std::string folder = compose({device_folder, "/devfreq"});
  std::string found;
  (void)platform::for_each_entry(folder.c_str(), [&](std::string_view name) {
    found = compose({folder, "/", name});
    return false;
  });
  return found;
}

void read_clock(std::string_view device_folder, sensors& s, hmn::telemetry& out) {
  std::optional<double> mhz;
  if (!s.wants(telemetry_field::core_clock_mhz)) return;
  s.take(devfreq_of(device_folder), {"cur_freq"}, telemetry_field::core_clock_mhz, unit::megahertz,
         mhz);
  out.core_clock_mhz = whole(mhz);
}

void read_link(const card& c, sensors& s, hmn::telemetry& out) {
  if (!c.pci_bus_id.empty() && c.bus.view() == "pci") take_link(c.folder.view(), s, out);
}

struct number_file {
  metric_id is;
  std::uint8_t instance;
  unit in;
  std::string_view file;
};
// Of two files for one metric the first counts.
constexpr number_file of_chip[] = {
    {metric_id::temperature, which::sensor::core, unit::celsius, "temp1_input"},
    {metric_id::temperature_limit, which::sensor::core, unit::celsius, "temp1_crit"},
    {metric_id::temperature_shutdown, which::sensor::core, unit::celsius, "temp1_emergency"},
    {metric_id::power_watts, which::power_reading::average, unit::watts, "power1_average"},
    {metric_id::power_watts, which::power_reading::instant, unit::watts, "power1_input"},
    {metric_id::power_limit_watts, which::power_limit::current, unit::watts, "power1_cap"},
    {metric_id::power_limit_watts, which::power_limit::current, unit::watts, "power1_max"},
    {metric_id::energy_joules, 0, unit::joules, "energy1_input"},
};
constexpr number_file of_fan[] = {
    {metric_id::fan_percent, 1, unit::duty_of_255, "pwm1"},
    {metric_id::fan_rpm, 1, unit::rpm, "fan1_input"},
};
constexpr number_file of_nouveaus_fan[] = {{metric_id::fan_percent, 1, unit::percent, "pwm1"}};
constexpr number_file of_clock[] = {
    {metric_id::clock_mhz, which::clock::core, unit::megahertz, "cur_freq"},
    {metric_id::clock_limit_mhz, which::clock::core, unit::megahertz, "max_freq"},
};

void add_number(visit& v, std::string_view folder, const number_file& f, std::vector<metric>& out) {
  for (const metric& m : out) {
    if (m.id == f.is && m.instance == f.instance) return;
  }
  const auto read = sysfs::read_signed(folder, f.file);
  if (read.error == ENOENT) return;
  if (read) {
    const double value = in_unit(f.in, read.value);
    return out.push_back(measured(source::drm, f.is, f.instance, value));
  }
  v.diagnose(sysfs::unreadable(source::drm, read.error, folder, f.file), subject::metrics,
             missing_metric(f.is, f.instance));
}

bool is_among(const card& c, std::string_view names) noexcept {
  return scan::has_part(names, ' ', c.driver_name.view());
}

bool is_virtual(const card& c) noexcept {
  return c.bus.view() == "virtio" || is_among(c, "virtio_gpu vmwgfx vboxvideo hyperv_drm");
}

// Devices off the bus are part of the SoC and allocate from host RAM; so do the NPUs of AMD and
// Intel, which are PCI functions.
bool is_unified(const card& c) noexcept {
  return !is_virtual(c) && (c.pci_bus_id.empty() || is_among(c, "amdxdna intel_vpu"));
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
  // Only amdgpu can tell its partitions apart.
  bool serves(const card& c) const noexcept override { return !is_partition_node(c); }

  // NVIDIA's own driver has nodes other than those of DRM.
  bool sees_every_client(const card& c) const noexcept override {
    return c.driver_name.view() != "nvidia";
  }

  void identify(visit& v, device& who) override {
    if (v.of().find(node::kind::accel) != nullptr) who.device_class = device_class::npu;
    if (is_virtual(v.of())) who.form = device_form::virtual_device;
    if (!is_unified(v.of())) return;
    who.form = device_form::integrated;
    who.memory_kind = memory_kind::unified;
  }

  result<void> memory(visit& v, pools& out) override;
  result<void> telemetry(visit& v, FieldSet fields, hmn::telemetry& out) override {
    return read_sensors(v, fields, out);
  }
  void metrics(visit& v, bool, std::vector<metric>& out) override { read_metrics(v, out); }

  // All regions of a unified device are its memory, whatever their names are.
  region_role role_of(const card& c, std::string_view region) const noexcept override {
    return is_unified(c) ? region_role::device : usual_role(region);
  }

  // panfrost and panthor count only if root has enabled it.
  bool counts_engines(const card& c) const noexcept override {
    if (!is_among(c, "panfrost panthor")) return true;
    const auto profiling = sysfs::read_number(c.folder.view(), "profiling");
    return !profiling || profiling.value != 0;
  }

  // Their show_fdinfo sums up counters in RAM.
  bool fdinfo_wakes(const card& c) const noexcept override {
    return !is_among(c, "v3d vc4 panfrost panthor lima etnaviv nouveau virtio_gpu") &&
           !c.driver_name.view().starts_with("msm");
  }
};

result<void> generic_driver::memory(visit& v, pools& out) {
  if (!is_unified(v.of())) {
    return fail(status::unsupported, {"the driver ", v.of().driver_name.view(),
                                      " reports neither total nor used memory"});
  }
  pool p = unified_pool();
  result<card_use> all = v.clients();
  if (all && all->sum.used()) {
    p.used = all->sum.used();
    p.accounting = all->sum.resident ? accounting::resident : accounting::committed;
    // Sum of the visible clients, without the driver's own memory.
    p.notes |= note::lower_bound;
  } else if (all) {
    v.diagnose(fail(status::unsupported, "no client of the device reports its memory"),
               subject::pools, pool_field::used);
  } else {
    v.diagnose(all.why(), subject::pools, pool_field::used);
  }
  out.add(p);
  return {};
}

}  // namespace

result<void> read_sensors(visit& v, FieldSet fields, hmn::telemetry& out) {
  sensors s(v, source::drm, fields);
  out.from = source::drm;
  out.sources = std::uint64_t{1} << static_cast<unsigned>(source::drm);
  int error = 0;
  const std::string chip = find_hwmon(v.of().folder.view(), {}, &error);
  if (error != 0) s.blame(sysfs::unreadable(source::drm, error, v.of().folder.view(), "hwmon"));
  if (!chip.empty()) {
    read_hwmon(chip, s, out);
    read_fan(chip, v.of().driver_name.view() == "nouveau", s, out);
  }
  read_clock(v.of().folder.view(), s, out);
  read_link(v.of(), s, out);
  take_load(v, s, out);
  return s.finish();
}

void read_metrics(visit& v, std::vector<metric>& out) {
  const std::string_view folder = v.of().folder.view();
  const auto add = [&](const std::string& in, std::span<const number_file> files) {
    if (in.empty()) return;
    for (const number_file& f : files) add_number(v, in, f, out);
  };
  int error = 0;
  const std::string chip = find_hwmon(folder, {}, &error);
  if (error != 0) {
    v.diagnose(sysfs::unreadable(source::drm, error, folder, "hwmon"), subject::metrics, 0);
  }
  add(chip, of_chip);
  if (v.of().driver_name.view() == "nouveau") {
    add(chip, of_nouveaus_fan);
  } else {
    add(chip, of_fan);
  }
  add(devfreq_of(folder), of_clock);
}

std::unique_ptr<driver> make_generic() {
  return std::make_unique<generic_driver>();
}

}  // namespace hmn::drm
