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
void read_fan(std::string_view folder, bool is_nouveau, Sensors& sensors, hmn::Telemetry& out) {
  using namespace telemetry_field;
  std::optional<double> rpm, duty;
  sensors.read(folder, {"pwm1"}, fan_percent, is_nouveau ? Unit::percent : Unit::duty_of_255, duty);
  if (!is_nouveau) {
    sensors.read(folder, {"fan1_input"}, fan_rpm, Unit::rpm, rpm);
  } else if (sensors.wants(fan_rpm)) {
    sensors.report_missing(
        fan_rpm, fail(Status::unsupported, "not read: nouveau takes too long to report it"));
  }
  out.fan_rpm = round_uint32(rpm);
  out.fan_percent = round_uint32(duty);
}

void read_hwmon(std::string_view folder, Sensors& sensors, hmn::Telemetry& out) {
  using namespace telemetry_field;
  sensors.read(folder, {"temp1_input"}, temperature_celsius, Unit::celsius,
               out.temperature_celsius);
  sensors.read(folder, {"power1_average", "power1_input"}, power_watts, Unit::watts,
               out.power_watts);
  sensors.read(folder, {"power1_cap", "power1_max"}, power_limit_watts, Unit::watts,
               out.power_limit_watts);
  sensors.read(folder, {"energy1_input"}, energy_joules, Unit::joules, out.energy_joules);
}

// Finds <device>/devfreq/<name>.
std::string find_devfreq(std::string_view device_folder) {
  const std::string folder = compose({device_folder, "/devfreq"});
  std::string path;
  (void)platform::for_each_entry(folder.c_str(), [&](std::string_view name) {
    path = compose({folder, "/", name});
    return false;
  });
  return path;
}

void read_clock(std::string_view device_folder, Sensors& sensors, hmn::Telemetry& out) {
  std::optional<double> mhz;
  if (!sensors.wants(telemetry_field::core_clock_mhz)) return;
  sensors.read(find_devfreq(device_folder), {"cur_freq"}, telemetry_field::core_clock_mhz,
               Unit::megahertz, mhz);
  out.core_clock_mhz = round_uint32(mhz);
}

void read_link(const Card& card, Sensors& sensors, hmn::Telemetry& out) {
  if (!card.pci_bus_id.empty() && card.bus.view() == "pci")
    read_pcie_link(card.folder.view(), sensors, out);
}

struct NumberFile {
  MetricId id;
  std::uint8_t instance;
  Unit unit;
  std::string_view file;
};
// Of two files for one metric the first counts.
constexpr NumberFile chip_files[] = {
    {MetricId::temperature, metric_instance::sensor::core, Unit::celsius, "temp1_input"},
    {MetricId::temperature_limit, metric_instance::sensor::core, Unit::celsius, "temp1_crit"},
    {MetricId::temperature_shutdown, metric_instance::sensor::core, Unit::celsius,
     "temp1_emergency"},
    {MetricId::power_watts, metric_instance::power_reading::average, Unit::watts, "power1_average"},
    {MetricId::power_watts, metric_instance::power_reading::instant, Unit::watts, "power1_input"},
    {MetricId::power_limit_watts, metric_instance::power_limit::current, Unit::watts, "power1_cap"},
    {MetricId::power_limit_watts, metric_instance::power_limit::current, Unit::watts, "power1_max"},
    {MetricId::energy_joules, 0, Unit::joules, "energy1_input"},
};
constexpr NumberFile fan_files[] = {
    {MetricId::fan_percent, 1, Unit::duty_of_255, "pwm1"},
    {MetricId::fan_rpm, 1, Unit::rpm, "fan1_input"},
};
constexpr NumberFile nouveau_fan_files[] = {{MetricId::fan_percent, 1, Unit::percent, "pwm1"}};
constexpr NumberFile clock_files[] = {
    {MetricId::clock_mhz, metric_instance::clock::core, Unit::megahertz, "cur_freq"},
    {MetricId::clock_limit_mhz, metric_instance::clock::core, Unit::megahertz, "max_freq"},
};

void add_number(Visit& visit, std::string_view folder, const NumberFile& number_file,
                std::vector<Metric>& out) {
  for (const Metric& metric : out) {
    if (metric.id == number_file.id && metric.instance == number_file.instance) return;
  }
  const auto number = sysfs::read_signed(folder, number_file.file);
  if (number.error == ENOENT) return;
  if (number) {
    const double value = scale_value(number_file.unit, number.value);
    return out.push_back(
        make_value_metric(Source::drm, number_file.id, number_file.instance, value));
  }
  visit.diagnose(sysfs::make_file_failure(Source::drm, number.error, folder, number_file.file),
                 subject::metrics, missing_metric(number_file.id, number_file.instance));
}

bool has_driver(const Card& card, std::string_view names) noexcept {
  return scan::has_part(names, ' ', card.driver_name.view());
}

bool is_virtual(const Card& card) noexcept {
  return card.bus.view() == "virtio" || has_driver(card, "virtio_gpu vmwgfx vboxvideo hyperv_drm");
}

// Devices off the bus are part of the SoC and allocate from host RAM; so do the NPUs of AMD and
// Intel, which are PCI functions.
bool is_unified(const Card& card) noexcept {
  return !is_virtual(card) && (card.pci_bus_id.empty() || has_driver(card, "amdxdna intel_vpu"));
}

Pool make_unified_pool() noexcept {
  Pool pool;
  pool.kind = PoolKind::unified;
  pool.source = Source::drm;
  pool.is_main = true;
  return pool;
}

class GenericDriver final : public Driver {
 public:
  Source source() const noexcept override { return Source::drm; }
  // Only amdgpu can tell its partitions apart.
  bool supports(const Card& card) const noexcept override { return !is_partition_node(card); }

  // NVIDIA's own driver has nodes other than those of DRM.
  bool sees_every_client(const Card& card) const noexcept override {
    return card.driver_name.view() != "nvidia";
  }

  void identify(Visit& visit, Device& device) override {
    if (visit.card().find(Node::Kind::accel) != nullptr) device.device_class = DeviceClass::npu;
    if (is_virtual(visit.card())) device.form = DeviceForm::virtual_device;
    if (!is_unified(visit.card())) return;
    device.form = DeviceForm::integrated;
    device.memory_kind = MemoryKind::unified;
  }

  Result<void> memory(Visit& visit, PoolList& out) override;
  Result<void> telemetry(Visit& visit, FieldSet fields, hmn::Telemetry& out) override {
    return read_sensors(visit, fields, out);
  }
  void metrics(Visit& visit, bool, std::vector<Metric>& out) override { read_metrics(visit, out); }

  // All regions of a unified device are its memory, whatever their names are.
  RegionRole classify_region(const Card& card, std::string_view region) const noexcept override {
    return is_unified(card) ? RegionRole::device : classify_region_by_name(region);
  }

  // panfrost and panthor count only if root has enabled it.
  bool counts_engines(const Card& card) const noexcept override {
    if (!has_driver(card, "panfrost panthor")) return true;
    const auto profiling = sysfs::read_number(card.folder.view(), "profiling");
    return !profiling || profiling.value != 0;
  }

  // Their show_fdinfo sums up counters in RAM.
  bool fdinfo_wakes(const Card& card) const noexcept override {
    return !has_driver(card, "v3d vc4 panfrost panthor lima etnaviv nouveau virtio_gpu") &&
           !card.driver_name.view().starts_with("msm");
  }
};

Result<void> GenericDriver::memory(Visit& visit, PoolList& out) {
  if (!is_unified(visit.card())) {
    return fail(Status::unsupported, {"the driver ", visit.card().driver_name.view(),
                                      " reports neither total nor used memory"});
  }
  Pool pool = make_unified_pool();
  Result<CardUse> use = visit.clients();
  if (use && use->sum.used()) {
    pool.used = use->sum.used();
    pool.accounting = use->sum.resident ? Accounting::resident : Accounting::committed;
    // Sum of the visible clients, without the driver's own memory.
    pool.notes |= note::lower_bound;
  } else if (use) {
    visit.diagnose(fail(Status::unsupported, "no client of the device reports its memory"),
                   subject::pools, pool_field::used);
  } else {
    visit.diagnose(use.failure(), subject::pools, pool_field::used);
  }
  out.add(pool);
  return {};
}

}  // namespace

Result<void> read_sensors(Visit& visit, FieldSet fields, hmn::Telemetry& out) {
  Sensors sensors(visit, Source::drm, fields);
  out.source = Source::drm;
  out.sources = std::uint64_t{1} << static_cast<unsigned>(Source::drm);
  int error = 0;
  const std::string chip = find_hwmon(visit.card().folder.view(), {}, &error);
  if (error != 0)
    sensors.set_default_failure(
        sysfs::make_file_failure(Source::drm, error, visit.card().folder.view(), "hwmon"));
  if (!chip.empty()) {
    read_hwmon(chip, sensors, out);
    read_fan(chip, visit.card().driver_name.view() == "nouveau", sensors, out);
  }
  read_clock(visit.card().folder.view(), sensors, out);
  read_link(visit.card(), sensors, out);
  read_engine_load(visit, sensors, out);
  return sensors.finish();
}

void read_metrics(Visit& visit, std::vector<Metric>& out) {
  const std::string_view folder = visit.card().folder.view();
  const auto add = [&](const std::string& subfolder, std::span<const NumberFile> files) {
    if (subfolder.empty()) return;
    for (const NumberFile& file : files) add_number(visit, subfolder, file, out);
  };
  int error = 0;
  const std::string chip = find_hwmon(folder, {}, &error);
  if (error != 0) {
    visit.diagnose(sysfs::make_file_failure(Source::drm, error, folder, "hwmon"), subject::metrics,
                   0);
  }
  add(chip, chip_files);
  if (visit.card().driver_name.view() == "nouveau") {
    add(chip, nouveau_fan_files);
  } else {
    add(chip, fan_files);
  }
  add(find_devfreq(folder), clock_files);
}

std::unique_ptr<Driver> make_generic() {
  return std::make_unique<GenericDriver>();
}

}  // namespace hmn::drm
