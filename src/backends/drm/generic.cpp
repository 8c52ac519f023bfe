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

using Field = FieldSet;

// Documentation/driver-api/thermal/nouveau_thermal.rst: pwm1 is in percent. Reading fan1_input
// measures the fan for up to 250 ms.
void read_fan(std::string_view folder, bool is_nouveau, Sensors& s, hmn::Telemetry& out) {
  using namespace telemetry_field;
  std::optional<double> rpm, duty;
  s.take(folder, {"pwm1"}, fan_percent, is_nouveau ? Unit::percent : Unit::duty_of_255, duty);
  if (!is_nouveau) {
    s.take(folder, {"fan1_input"}, fan_rpm, Unit::rpm, rpm);
  } else if (s.wants(fan_rpm)) {
    s.refuse(fan_rpm, fail(Status::unsupported, "not read: nouveau takes too long to report it"));
  }
  out.fan_rpm = whole(rpm);
  out.fan_percent = whole(duty);
}

void read_hwmon(std::string_view folder, Sensors& s, hmn::Telemetry& out) {
  using namespace telemetry_field;
  s.take(folder, {"temp1_input"}, temperature_celsius, Unit::celsius, out.temperature_celsius);
  s.take(folder, {"power1_average", "power1_input"}, power_watts, Unit::watts, out.power_watts);
  s.take(folder, {"power1_cap", "power1_max"}, power_limit_watts, Unit::watts,
         out.power_limit_watts);
  s.take(folder, {"energy1_input"}, energy_joules, Unit::joules, out.energy_joules);
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

void read_clock(std::string_view device_folder, Sensors& s, hmn::Telemetry& out) {
  std::optional<double> mhz;
  if (!s.wants(telemetry_field::core_clock_mhz)) return;
  s.take(devfreq_of(device_folder), {"cur_freq"}, telemetry_field::core_clock_mhz, Unit::megahertz,
         mhz);
  out.core_clock_mhz = whole(mhz);
}

void read_link(const Card& c, Sensors& s, hmn::Telemetry& out) {
  if (!c.pci_bus_id.empty() && c.bus.view() == "pci") take_link(c.folder.view(), s, out);
}

struct NumberFile {
  MetricId is;
  std::uint8_t instance;
  Unit in;
  std::string_view file;
};
// Of two files for one metric the first counts.
constexpr NumberFile of_chip[] = {
    {MetricId::temperature, which::sensor::core, Unit::celsius, "temp1_input"},
    {MetricId::temperature_limit, which::sensor::core, Unit::celsius, "temp1_crit"},
    {MetricId::temperature_shutdown, which::sensor::core, Unit::celsius, "temp1_emergency"},
    {MetricId::power_watts, which::power_reading::average, Unit::watts, "power1_average"},
    {MetricId::power_watts, which::power_reading::instant, Unit::watts, "power1_input"},
    {MetricId::power_limit_watts, which::power_limit::current, Unit::watts, "power1_cap"},
    {MetricId::power_limit_watts, which::power_limit::current, Unit::watts, "power1_max"},
    {MetricId::energy_joules, 0, Unit::joules, "energy1_input"},
};
constexpr NumberFile of_fan[] = {
    {MetricId::fan_percent, 1, Unit::duty_of_255, "pwm1"},
    {MetricId::fan_rpm, 1, Unit::rpm, "fan1_input"},
};
constexpr NumberFile of_nouveaus_fan[] = {{MetricId::fan_percent, 1, Unit::percent, "pwm1"}};
constexpr NumberFile of_clock[] = {
    {MetricId::clock_mhz, which::clock::core, Unit::megahertz, "cur_freq"},
    {MetricId::clock_limit_mhz, which::clock::core, Unit::megahertz, "max_freq"},
};

void add_number(Visit& v, std::string_view folder, const NumberFile& f, std::vector<Metric>& out) {
  for (const Metric& m : out) {
    if (m.id == f.is && m.instance == f.instance) return;
  }
  const auto read = sysfs::read_signed(folder, f.file);
  if (read.error == ENOENT) return;
  if (read) {
    const double value = in_unit(f.in, read.value);
    return out.push_back(measured(Source::drm, f.is, f.instance, value));
  }
  v.diagnose(sysfs::unreadable(Source::drm, read.error, folder, f.file), subject::metrics,
             missing_metric(f.is, f.instance));
}

bool is_among(const Card& c, std::string_view names) noexcept {
  return scan::has_part(names, ' ', c.driver_name.view());
}

bool is_virtual(const Card& c) noexcept {
  return c.bus.view() == "virtio" || is_among(c, "virtio_gpu vmwgfx vboxvideo hyperv_drm");
}

// Devices off the bus are part of the SoC and allocate from host RAM; so do the NPUs of AMD and
// Intel, which are PCI functions.
bool is_unified(const Card& c) noexcept {
  return !is_virtual(c) && (c.pci_bus_id.empty() || is_among(c, "amdxdna intel_vpu"));
}

Pool unified_pool() noexcept {
  Pool p;
  p.kind = PoolKind::unified;
  p.from = Source::drm;
  p.is_main = true;
  return p;
}

class GenericDriver final : public Driver {
 public:
  Source from() const noexcept override { return Source::drm; }
  // Only amdgpu can tell its partitions apart.
  bool serves(const Card& c) const noexcept override { return !is_partition_node(c); }

  // NVIDIA's own driver has nodes other than those of DRM.
  bool sees_every_client(const Card& c) const noexcept override {
    return c.driver_name.view() != "nvidia";
  }

  void identify(Visit& v, Device& who) override {
    if (v.of().find(Node::Kind::accel) != nullptr) who.device_class = DeviceClass::npu;
    if (is_virtual(v.of())) who.form = DeviceForm::virtual_device;
    if (!is_unified(v.of())) return;
    who.form = DeviceForm::integrated;
    who.memory_kind = MemoryKind::unified;
  }

  Result<void> memory(Visit& v, Pools& out) override;
  Result<void> telemetry(Visit& v, FieldSet fields, hmn::Telemetry& out) override {
    return read_sensors(v, fields, out);
  }
  void metrics(Visit& v, bool, std::vector<Metric>& out) override { read_metrics(v, out); }

  // All regions of a unified device are its memory, whatever their names are.
  RegionRole role_of(const Card& c, std::string_view region) const noexcept override {
    return is_unified(c) ? RegionRole::device : usual_role(region);
  }

  // panfrost and panthor count only if root has enabled it.
  bool counts_engines(const Card& c) const noexcept override {
    if (!is_among(c, "panfrost panthor")) return true;
    const auto profiling = sysfs::read_number(c.folder.view(), "profiling");
    return !profiling || profiling.value != 0;
  }

  // Their show_fdinfo sums up counters in RAM.
  bool fdinfo_wakes(const Card& c) const noexcept override {
    return !is_among(c, "v3d vc4 panfrost panthor lima etnaviv nouveau virtio_gpu") &&
           !c.driver_name.view().starts_with("msm");
  }
};

Result<void> GenericDriver::memory(Visit& v, Pools& out) {
  if (!is_unified(v.of())) {
    return fail(Status::unsupported, {"the driver ", v.of().driver_name.view(),
                                      " reports neither total nor used memory"});
  }
  Pool p = unified_pool();
  Result<CardUse> all = v.clients();
  if (all && all->sum.used()) {
    p.used = all->sum.used();
    p.accounting = all->sum.resident ? Accounting::resident : Accounting::committed;
    // Sum of the visible clients, without the driver's own memory.
    p.notes |= note::lower_bound;
  } else if (all) {
    v.diagnose(fail(Status::unsupported, "no client of the device reports its memory"),
               subject::pools, pool_field::used);
  } else {
    v.diagnose(all.why(), subject::pools, pool_field::used);
  }
  out.add(p);
  return {};
}

}  // namespace

Result<void> read_sensors(Visit& v, FieldSet fields, hmn::Telemetry& out) {
  Sensors s(v, Source::drm, fields);
  out.from = Source::drm;
  out.sources = std::uint64_t{1} << static_cast<unsigned>(Source::drm);
  int error = 0;
  const std::string chip = find_hwmon(v.of().folder.view(), {}, &error);
  if (error != 0) s.blame(sysfs::unreadable(Source::drm, error, v.of().folder.view(), "hwmon"));
  if (!chip.empty()) {
    read_hwmon(chip, s, out);
    read_fan(chip, v.of().driver_name.view() == "nouveau", s, out);
  }
  read_clock(v.of().folder.view(), s, out);
  read_link(v.of(), s, out);
  take_load(v, s, out);
  return s.finish();
}

void read_metrics(Visit& v, std::vector<Metric>& out) {
  const std::string_view folder = v.of().folder.view();
  const auto add = [&](const std::string& in, std::span<const NumberFile> files) {
    if (in.empty()) return;
    for (const NumberFile& f : files) add_number(v, in, f, out);
  };
  int error = 0;
  const std::string chip = find_hwmon(folder, {}, &error);
  if (error != 0) {
    v.diagnose(sysfs::unreadable(Source::drm, error, folder, "hwmon"), subject::metrics, 0);
  }
  add(chip, of_chip);
  if (v.of().driver_name.view() == "nouveau") {
    add(chip, of_nouveaus_fan);
  } else {
    add(chip, of_fan);
  }
  add(devfreq_of(folder), of_clock);
}

std::unique_ptr<Driver> make_generic() {
  return std::make_unique<GenericDriver>();
}

}  // namespace hmn::drm
