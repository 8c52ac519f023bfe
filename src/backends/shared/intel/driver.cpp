// SPDX-License-Identifier: MIT OR Apache-2.0
#include "backends/shared/intel/driver.hpp"

#include <algorithm>
#include <cerrno>
#include <utility>

#include "backends/drm/discovery.hpp"
#include "backends/drm/sensors.hpp"
#include "backends/shared/intel/chip.hpp"
#include "backends/shared/sysfs/attribute.hpp"
#include "model/device.hpp"
#include "model/message_text.hpp"
#include "model/pci_address.hpp"
#include "model/scan.hpp"
#include "platform/clock.hpp"
#include "platform/file.hpp"

namespace hmn::intel {
namespace {

// Counters are updated about once per millisecond.
constexpr std::uint64_t min_window_ns = 10 * platform::ns_per_ms;
constexpr std::uint64_t preferred_window_ns = 100 * platform::ns_per_ms;
constexpr std::uint64_t max_window_ns = 60 * platform::ns_per_second;

std::string_view parent_folder(std::string_view folder) noexcept {
  const std::size_t slash = folder.rfind('/');
  return folder.substr(0, slash == std::string_view::npos ? 0 : slash);
}

bool is_own_bridge(std::string_view folder) noexcept {
  const std::string_view name = folder.substr(folder.rfind('/') + 1);
  if (normalize_pci_address(name).empty()) return false;
  constexpr std::uint64_t pci_bridge = 0x0604;
  const auto vendor_id = sysfs::read_hex(folder, "vendor");
  const auto class_code = sysfs::read_hex(folder, "class");
  return vendor_id.value == vendor::intel && class_code.value >> 8 == pci_bridge;
}

using namespace telemetry_field;
using drm::Sensors;

constexpr std::string_view zero_energy_message = "the card's energy counter is always 0";

Failure make_first_reading_failure(Source source) {
  return with_reason(
      Reason::not_yet,
      FailureFactory{source}(Status::unsupported,
                             "power is the difference of two readings of energy: read again"));
}

Failure make_stuck_counter_failure(Source source) {
  return with_reason(
      Reason::ambiguous,
      FailureFactory{source}(
          Status::unsupported,
          "the card's energy counter does not advance, although every card uses power"));
}

void store_value(Sensors& sensors, FieldSet field, std::optional<double> value,
                 std::optional<double>& target) {
  if (value && sensors.wants(field)) sensors.set(field, target, *value);
}

void read_chip(const Chip& chip, Sensors& sensors, hmn::Telemetry& telemetry) {
  store_value(sensors, temperature_celsius,
              chip.highest(Quantity::temperature, SensorLocation::package),
              telemetry.temperature_celsius);
  store_value(sensors, memory_celsius, chip.highest(Quantity::temperature, SensorLocation::memory),
              telemetry.memory_celsius);
  store_value(sensors, power_limit_watts, chip.limit(Quantity::limit), telemetry.power_limit_watts);
  const auto rpm = drm::round_uint32(chip.highest(Quantity::fan, SensorLocation::card));
  if (rpm && sensors.wants(fan_rpm)) sensors.set(fan_rpm, telemetry.fan_rpm, *rpm);
}

void read_clock(const std::vector<Gt>& gts, Sensors& sensors, hmn::Telemetry& telemetry) {
  if (!sensors.wants(core_clock_mhz) || gts.empty()) return;
  std::optional<double> mhz;
  sensors.read(gts.front().folder, {gts.front().files->actual}, core_clock_mhz, drm::Unit::one,
               mhz);
  telemetry.core_clock_mhz = drm::round_uint32(mhz);
}

void read_all_throttle(const std::vector<Gt>& gts, Sensors& sensors, hmn::Telemetry& telemetry) {
  if (!sensors.wants(telemetry_field::throttle)) return;
  std::optional<std::uint32_t> reasons;
  for (const Gt& gt : gts) {
    const auto bits = read_throttle(gt);
    if (bits) {
      reasons = reasons.value_or(0) | bits.value;
    } else if (bits.error != ENOENT) {
      return sensors.report_unreadable(telemetry_field::throttle, bits.error, gt.folder,
                                       gt.files->throttle);
    }
  }
  if (reasons) sensors.set(telemetry_field::throttle, telemetry.throttle, *reasons);
}

std::uint32_t find_instance(const ChipReading& reading) noexcept {
  switch (reading.quantity) {
    case Quantity::fan:
      return reading.number;
    case Quantity::temperature:
    case Quantity::shutdown:
      return reading.location == SensorLocation::memory ? metric_instance::sensor::memory
                                                        : metric_instance::sensor::package;
    case Quantity::voltage:
      return metric_instance::rail::core;
    default:
      return reading.location == SensorLocation::package ? metric_instance::power_reading::package
                                                         : metric_instance::power_reading::board;
  }
}

MetricId find_metric_id(Quantity quantity) noexcept {
  constexpr MetricId ids[] = {MetricId::temperature,       MetricId::fan_rpm,
                              MetricId::energy_joules,     MetricId::power_limit_watts,
                              MetricId::power_limit_watts, MetricId::voltage,
                              MetricId::power_limit_watts, MetricId::temperature_shutdown};
  return ids[static_cast<std::size_t>(quantity)];
}

bool is_limit(Quantity quantity) noexcept {
  return quantity == Quantity::limit || quantity == Quantity::default_limit ||
         quantity == Quantity::burst_limit;
}

// Of several sensors in one location the hottest is reported, and the lowest limit, for which all
// must be readable.
bool is_reported(const Chip& chip, const ChipReading& reading) noexcept {
  if (reading.has_failed || reading.location == SensorLocation::unknown) return false;
  return !is_thermal(reading.quantity) || chip.is_complete(reading.quantity, reading.location);
}

// Adds a sensor, or merges it into the metric of the one in the same place.
void add_reading(const ChipReading& reading, Source source, std::vector<Metric>& metrics) {
  if (is_limit(reading.quantity) || (reading.quantity == Quantity::energy && reading.value <= 0))
    return;
  if (reading.location == SensorLocation::other) return;
  const double value = convert_value(reading);
  for (Metric& metric : metrics) {
    if (metric.source != source || metric.id != find_metric_id(reading.quantity) ||
        metric.instance != find_instance(reading))
      continue;
    const double other = metric.value.value_or(value);
    const bool is_lowest = reading.quantity == Quantity::shutdown;
    metric.value = is_lowest ? std::min(other, value) : std::max(other, value);
    return;
  }
  metrics.push_back(
      make_value_metric(source, find_metric_id(reading.quantity), find_instance(reading), value));
}

void add_limit(const Chip& chip, Quantity quantity, std::uint32_t instance, Source source,
               std::vector<Metric>& metrics) {
  if (const auto watts = chip.limit(quantity)) {
    metrics.push_back(make_value_metric(source, MetricId::power_limit_watts, instance, *watts));
  }
}

// Collects one card's metrics from files, and diagnoses the missing ones.
class MetricCollector {
 public:
  MetricCollector(drm::Visit& visit, Source source, std::vector<Metric>& metrics)
      : visit_(visit), source_(source), metrics_(metrics) {}

  void report_missing(FieldSet metric, const Failure& failure) {
    visit_.diagnose(failure, subject::metrics, metric);
  }
  void report_missing_file(FieldSet metric, int error, std::string_view folder,
                           std::string_view file) {
    if (error != 0 && error != ENOENT)
      report_missing(metric, sysfs::make_file_failure(source_, error, folder, file));
  }
  void add_clock(const Gt& gt, std::string_view file, MetricId id, std::uint32_t instance) {
    const auto mhz = sysfs::read_number(gt.folder, file);
    if (!mhz) return report_missing_file(missing_metric(id, instance), mhz.error, gt.folder, file);
    metrics_.push_back(make_value_metric(source_, id, instance, static_cast<double>(mhz.value)));
  }
  void add_clocks(const Gt& gt) {
    const auto instance =
        gt.is_media ? metric_instance::clock::media : metric_instance::clock::core;
    add_clock(gt, gt.files->actual, MetricId::clock_mhz, instance);
    add_clock(gt, gt.files->highest, MetricId::clock_limit_mhz, instance);
    if (!gt.is_media) {
      add_clock(gt, gt.files->requested, MetricId::clock_mhz, metric_instance::clock::requested);
    }
  }

 private:
  drm::Visit& visit_;
  Source source_;
  std::vector<Metric>& metrics_;
};

constexpr std::string_view whole_card_values = "sensors, power, clocks and PCIe link are";

}  // namespace

std::optional<AveragePower> EnergyMeter::read(std::uint64_t microjoules, std::uint64_t time_ns,
                                              std::uint64_t suspended_ns) noexcept {
  if (microjoules < last_.microjoules || time_ns < last_.time_ns ||
      platform::was_suspended(last_.suspended_ns, suspended_ns)) {
    before_ = last_ = Sample{};
  }
  const std::uint64_t since_last = time_ns - last_.time_ns;
  const bool is_old = before_.time_ns == 0 || since_last >= preferred_window_ns ||
                      time_ns - before_.time_ns >= platform::ns_per_second;
  if (last_.time_ns != 0 && since_last >= min_window_ns && is_old) before_ = last_;
  last_ = {microjoules, time_ns, suspended_ns};
  const std::uint64_t window = time_ns - before_.time_ns;
  if (before_.time_ns == 0 || window < min_window_ns || window > max_window_ns) return std::nullopt;
  const auto used = static_cast<double>(microjoules - before_.microjoules);
  return AveragePower{used * 1e3 / static_cast<double>(window), window};
}

std::string find_link_folder(std::string_view device_folder) {
  const std::string_view upstream = parent_folder(parent_folder(device_folder));
  const bool is_inside =
      drm::read_generation(device_folder) == 1U && drm::read_width(device_folder) == 1U;
  if (!is_inside) return std::string(device_folder);
  return std::string(is_own_bridge(upstream) ? upstream : std::string_view());
}

// prochot: external signal. ratl: running average thermal limit. fastvmode: voltage regulator at
// its current limit, briefly.
std::uint32_t convert_throttle_reason(std::string_view reason) noexcept {
  if (scan::contains_any(reason, "prochot")) return throttle::hardware;
  if (scan::contains_any(reason, "therm ratl")) return throttle::thermal;
  const bool is_power = scan::contains_any(reason, "pl1 pl2 pl4 tdc iccmax psys fastvmode");
  return is_power ? throttle::power : throttle::other;
}

platform::ErrnoOr<std::uint32_t> read_throttle(const Gt& gt) {
  const GtFiles& files = *gt.files;
  if (files.throttle_prefix.empty()) return {0, ENOENT};
  const std::string folder = compose({gt.folder, files.throttle});
  // One file reports whether anything limits the clock; mostly nothing does.
  const auto status = sysfs::read_number(folder, files.throttle_status);
  if (!status || status.value == 0) return {0, status.error};
  std::uint32_t bits = 0;
  int error = 0;
  const int list_error = platform::for_each_entry(folder.c_str(), [&](std::string_view name) {
    if (!name.starts_with(files.throttle_prefix) || name == files.throttle_status) return true;
    const auto flag = sysfs::read_number(folder, name);
    // "reasons" of newer kernels is a list of words, not a number.
    if (!flag && flag.error != sysfs::no_number && flag.error != ENOENT) error = flag.error;
    if (flag && flag.value != 0) bits |= convert_throttle_reason(name.substr(files.throttle_prefix.size()));
    return true;
  });
  if (list_error != 0 || error != 0) return {0, list_error != 0 ? list_error : error};
  return {bits != 0 ? bits : throttle::other, 0};
}

int for_each_number(const std::string& folder, std::string_view prefix,
                    FunctionRef<void(std::uint32_t)> visit) {
  std::uint64_t numbers = 0;
  const int error = platform::for_each_entry(folder.c_str(), [&](std::string_view name) {
    if (!name.starts_with(prefix)) return true;
    const auto number = scan::parse_decimal(name.substr(prefix.size()));
    if (number && *number < 64) numbers |= std::uint64_t{1} << *number;
    return true;
  });
  for (std::uint32_t number = 0; number < 64; ++number) {
    if ((numbers >> number & 1) != 0) visit(number);
  }
  return error == ENOENT ? 0 : error;
}

bool looks_integrated(const drm::Card& card, std::string_view chip_name, int& error) {
  if (!card.pci_bus_id.view().starts_with("0000:00:")) return false;
  return drm::find_hwmon(card.folder.view(), chip_name, &error).empty();
}

CardState& IntelDriver::find_or_add_state(const drm::Card& card) {
  const auto it = std::ranges::find(card_states_, card.slot, &CardState::slot);
  if (it != card_states_.end() && it->form_error == 0) return *it;
  CardState& state = it != card_states_.end() ? *it : card_states_.emplace_back();
  state.slot = card.slot;
  state.form_error = 0;
  state.is_integrated = looks_integrated(card, traits_.name, state.form_error);
  return state;
}

void IntelDriver::identify(drm::Visit& visit, Device& device) {
  const CardState& state = find_or_add_state(visit.card());
  if (state.form_error != 0) {
    Failure failure = sysfs::make_file_failure(traits_.source, state.form_error,
                                               visit.card().folder.view(), "hwmon");
    return visit.diagnose(failure, subject::devices, 0);
  }
  const bool is_integrated = state.is_integrated;
  device.form = is_integrated ? DeviceForm::integrated : DeviceForm::discrete;
  device.memory_kind = is_integrated ? MemoryKind::unified : MemoryKind::dedicated;
}

// All memory of an integrated device is host RAM, whatever the region's name. A card's memory that
// firmware reserves is "stolen-local0" or "stolen".
drm::RegionRole IntelDriver::classify_region(const drm::Card& card,
                                             std::string_view region) const noexcept {
  for (const CardState& state : card_states_) {
    if (state.slot == card.slot && state.is_integrated) return drm::RegionRole::device;
  }
  return region == "stolen" ? drm::RegionRole::device : drm::classify_region_by_name(region);
}

Result<AveragePower> IntelDriver::measure_power(const drm::Card& card, const ChipReading& energy) {
  CardState& state = find_or_add_state(card);
  EnergyMeter& meter =
      energy.location == SensorLocation::package ? state.package_energy : state.card_energy;
  const auto average = meter.read(static_cast<std::uint64_t>(energy.value),
                                  platform::monotonic_ns(), platform::suspended_ns());
  if (!average) return make_first_reading_failure(traits_.source);
  if (average->watts == 0) return make_stuck_counter_failure(traits_.source);
  return *average;
}

Result<void> IntelDriver::telemetry(drm::Visit& visit, FieldSet fields, hmn::Telemetry& telemetry) {
  Sensors sensors(visit, traits_.source, fields);
  telemetry.source = traits_.source;
  telemetry.sources = source_bit(traits_.source);
  const drm::Card& card = visit.card();
  if (drm::is_listed_virtual_function(card, visit.cards())) {
    sensors.set_default_failure(drm::make_whole_only_failure(traits_.source, whole_card_values));
    drm::read_engine_load(visit, sensors, telemetry);
    return sensors.finish();
  }
  int error = 0;
  const std::string folder = drm::find_hwmon(card.folder.view(), traits_.name, &error);
  if (error != 0)
    sensors.set_default_failure(
        sysfs::make_file_failure(traits_.source, error, card.folder.view(), "hwmon"));
  const Chip chip(folder, fields, [&](Quantity quantity, int code, std::string_view file) {
    sensors.report_unreadable(quantity_fields(quantity), code, folder, file);
  });
  read_chip(chip, sensors, telemetry);
  if (const auto reason = chip.explain_missing_limit();
      !reason.empty() && !telemetry.power_limit_watts) {
    sensors.report_missing(power_limit_watts, fail(Status::unsupported, {reason}));
  }
  if (const ChipReading* const energy = chip.energy(); energy != nullptr) {
    store_value(sensors, energy_joules, convert_value(*energy), telemetry.energy_joules);
    if (const auto average = measure_power(card, *energy)) {
      store_value(sensors, power_watts, average->watts, telemetry.power_watts);
    } else {
      sensors.report_missing(power_watts, average.failure());
    }
  } else if (chip.has_only_zero_energy()) {
    sensors.report_missing(energy_joules | power_watts,
                           fail(Status::unsupported, {zero_energy_message}));
  }
  std::vector<Gt> gts;
  constexpr std::uint32_t gt_fields = core_clock_mhz | telemetry_field::throttle;
  error = sensors.wants(gt_fields) ? traits_.find_gts(card, gts) : 0;
  if (error != 0) {
    sensors.report_missing(
        gt_fields, sysfs::make_file_failure(traits_.source, error, card.folder.view(), "gt*"));
  } else {
    read_clock(gts, sensors, telemetry);
    read_all_throttle(gts, sensors, telemetry);
  }
  if (sensors.wants(pcie_generation | pcie_width)) {
    const std::string link_path = find_link_folder(card.folder.view());
    if (link_path.empty()) {
      sensors.report_missing(
          pcie_generation | pcie_width,
          fail(Status::unsupported, "the card's own switch, whose link it is, cannot be seen"));
    } else {
      drm::read_pcie_link(link_path, sensors, telemetry);
    }
  }
  drm::read_engine_load(visit, sensors, telemetry);
  return sensors.finish();
}

void IntelDriver::metrics(drm::Visit& visit, bool, std::vector<Metric>& metrics) {
  const drm::Card& card = visit.card();
  if (drm::is_listed_virtual_function(card, visit.cards())) {
    return visit.diagnose(drm::make_whole_only_failure(traits_.source, whole_card_values),
                          subject::metrics, 0);
  }
  MetricCollector collector(visit, traits_.source, metrics);
  int error = 0;
  const std::string folder = drm::find_hwmon(card.folder.view(), traits_.name, &error);
  collector.report_missing_file({}, error, card.folder.view(), "hwmon");
  const Chip chip(
      folder, Chip::everything, [&](Quantity quantity, int code, std::string_view file) {
        collector.report_missing_file(missing_metric(find_metric_id(quantity)), code, folder, file);
      });
  for (const ChipReading& reading : chip.all()) {
    if (is_reported(chip, reading)) add_reading(reading, traits_.source, metrics);
  }
  add_limit(chip, Quantity::limit, metric_instance::power_limit::current, traits_.source, metrics);
  if (const auto reason = chip.explain_missing_limit();
      !reason.empty() && !chip.limit(Quantity::limit)) {
    collector.report_missing(missing_metric(MetricId::power_limit_watts),
                             fail(Status::unsupported, {reason}));
  }
  add_limit(chip, Quantity::default_limit, metric_instance::power_limit::default_limit,
            traits_.source, metrics);
  if (const ChipReading* const energy = chip.energy(); energy != nullptr) {
    if (const auto average = measure_power(card, *energy)) {
      metrics.push_back(make_value_metric(traits_.source, MetricId::power_watts,
                                          find_instance(*energy), average->watts));
      metrics.back().window_ns = average->window_ns;
    } else {
      collector.report_missing(missing_metric(MetricId::power_watts), average.failure());
    }
  } else if (chip.has_only_zero_energy()) {
    for (const MetricId id : {MetricId::power_watts, MetricId::energy_joules}) {
      collector.report_missing(missing_metric(id),
                               fail(Status::unsupported, {zero_energy_message}));
    }
  }
  std::vector<Gt> gts;
  collector.report_missing_file(missing_metric(MetricId::clock_mhz), traits_.find_gts(card, gts),
                                card.folder.view(), "gt*");
  // The clocks are those of the first tile.
  bool has_main = false, has_media = false;
  for (const Gt& gt : gts) {
    if (!std::exchange(gt.is_media ? has_media : has_main, true)) collector.add_clocks(gt);
  }
}

}  // namespace hmn::intel
