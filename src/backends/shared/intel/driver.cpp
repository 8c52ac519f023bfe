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
constexpr std::uint64_t shortest_ns = 10 * platform::ns_per_ms;
constexpr std::uint64_t usual_ns = 100 * platform::ns_per_ms;
constexpr std::uint64_t longest_ns = 60 * platform::ns_per_second;

std::string_view parent_of(std::string_view folder) noexcept {
  const std::size_t slash = folder.rfind('/');
  return folder.substr(0, slash == std::string_view::npos ? 0 : slash);
}

bool is_own_bridge(std::string_view folder) noexcept {
  const std::string_view name = folder.substr(folder.rfind('/') + 1);
  if (normal_pci_address(name).empty()) return false;
  constexpr std::uint64_t pci_bridge = 0x0604;
  const auto maker = sysfs::read_hex(folder, "vendor");
  const auto what = sysfs::read_hex(folder, "class");
  return maker.value == vendor::intel && what.value >> 8 == pci_bridge;
}

using namespace telemetry_field;
using drm::Sensors;

constexpr std::string_view does_not_count =
    "the card's energy counter stands at 0: it does not count";

Failure needs_another(Source from) {
  return with_reason(
      Reason::not_yet,
      FailureOf{from}(Status::unsupported,
                      "power is the difference of two readings of energy: read again"));
}

Failure stands_still(Source from) {
  return with_reason(
      Reason::ambiguous,
      FailureOf{from}(Status::unsupported,
                      "the card's energy counter stands still, and no card uses nothing"));
}

void give(Sensors& s, FieldSet field, std::optional<double> from, std::optional<double>& to) {
  if (from && s.wants(field)) s.found(field, to, *from);
}

void take_chip(const Chip& c, Sensors& s, hmn::Telemetry& out) {
  give(s, temperature_celsius, c.highest(Quantity::temperature, Place::package),
       out.temperature_celsius);
  give(s, memory_celsius, c.highest(Quantity::temperature, Place::memory), out.memory_celsius);
  give(s, power_limit_watts, c.limit(Quantity::limit), out.power_limit_watts);
  const auto rpm = drm::whole(c.highest(Quantity::fan, Place::card));
  if (rpm && s.wants(fan_rpm)) s.found(fan_rpm, out.fan_rpm, *rpm);
}

void take_clock(const std::vector<Gt>& gts, Sensors& s, hmn::Telemetry& out) {
  if (!s.wants(core_clock_mhz) || gts.empty()) return;
  std::optional<double> mhz;
  s.take(gts.front().folder, {gts.front().files->actual}, core_clock_mhz, drm::Unit::one, mhz);
  out.core_clock_mhz = drm::whole(mhz);
}

void take_throttle(const std::vector<Gt>& gts, Sensors& s, hmn::Telemetry& out) {
  if (!s.wants(telemetry_field::throttle)) return;
  std::optional<std::uint32_t> all;
  for (const Gt& g : gts) {
    const auto bits = read_throttle(g);
    if (bits) {
      all = all.value_or(0) | bits.value;
    } else if (bits.error != ENOENT) {
      return s.refuse_file(telemetry_field::throttle, bits.error, g.folder, g.files->throttle);
    }
  }
  if (all) s.found(telemetry_field::throttle, out.throttle, *all);
}

std::uint32_t instance_of(const ReadingOfChip& r) noexcept {
  switch (r.what) {
    case Quantity::fan:
      return r.number;
    case Quantity::temperature:
      return r.where == Place::memory ? which::sensor::memory : which::sensor::package;
    case Quantity::voltage:
      return which::rail::core;
    default:
      return r.where == Place::package ? which::power_reading::package
                                       : which::power_reading::board;
  }
}

MetricId id_of(Quantity what) noexcept {
  constexpr MetricId ids[] = {MetricId::temperature,       MetricId::fan_rpm,
                              MetricId::energy_joules,     MetricId::power_limit_watts,
                              MetricId::power_limit_watts, MetricId::voltage,
                              MetricId::power_limit_watts};
  return ids[static_cast<std::size_t>(what)];
}

bool is_limit(Quantity what) noexcept {
  return what == Quantity::limit || what == Quantity::usual_limit || what == Quantity::burst_limit;
}

// Several sensors of one place report their maximum, for which all are needed.
bool is_reported(const Chip& c, const ReadingOfChip& r) noexcept {
  if (r.has_failed || r.where == Place::unknown) return false;
  return r.what != Quantity::temperature || c.is_whole(r.what, r.where);
}

// Adds a sensor, or raises the metric of the one in the same place.
void add_reading(const ReadingOfChip& r, Source from, std::vector<Metric>& out) {
  if (is_limit(r.what) || (r.what == Quantity::energy && r.value <= 0)) return;
  if (r.where == Place::other) return;
  const double value = value_of(r);
  for (Metric& m : out) {
    if (m.from != from || m.id != id_of(r.what) || m.instance != instance_of(r)) continue;
    m.value = std::max(m.value.value_or(value), value);
    return;
  }
  out.push_back(measured(from, id_of(r.what), instance_of(r), value));
}

void add_limit(const Chip& c, Quantity what, std::uint32_t instance, Source from,
               std::vector<Metric>& out) {
  if (const auto watts = c.limit(what)) {
    out.push_back(measured(from, MetricId::power_limit_watts, instance, *watts));
  }
}

// Collects one card's metrics from files, and why others are missing.
class Collector {
 public:
  Collector(drm::Visit& v, Source from, std::vector<Metric>& out) : v_(v), from_(from), out_(out) {}

  void miss(FieldSet metric, const Failure& why) { v_.diagnose(why, subject::metrics, metric); }
  void miss_file(FieldSet metric, int error, std::string_view folder, std::string_view file) {
    if (error != 0 && error != ENOENT) miss(metric, sysfs::unreadable(from_, error, folder, file));
  }
  void clock(const Gt& g, std::string_view file, MetricId id, std::uint32_t instance) {
    const auto mhz = sysfs::read_number(g.folder, file);
    if (!mhz) return miss_file(missing_metric(id, instance), mhz.error, g.folder, file);
    out_.push_back(measured(from_, id, instance, static_cast<double>(mhz.value)));
  }
  void clocks(const Gt& g) {
    const auto instance = g.is_media ? which::clock::media : which::clock::core;
    clock(g, g.files->actual, MetricId::clock_mhz, instance);
    clock(g, g.files->highest, MetricId::clock_limit_mhz, instance);
    if (!g.is_media) {
      clock(g, g.files->requested, MetricId::clock_mhz, which::clock::requested);
    }
  }

 private:
  drm::Visit& v_;
  Source from_;
  std::vector<Metric>& out_;
};

constexpr std::string_view of_whole = "sensors, power, clocks and PCIe link are";

}  // namespace

std::optional<AveragePower> EnergyMeter::read(std::uint64_t microjoules, std::uint64_t at_ns,
                                              std::uint64_t suspended_ns) noexcept {
  if (microjoules < last_.microjoules || at_ns < last_.at_ns ||
      platform::was_suspended(last_.suspended_ns, suspended_ns)) {
    before_ = last_ = Sample{};
  }
  const std::uint64_t since_last = at_ns - last_.at_ns;
  const bool is_old = before_.at_ns == 0 || since_last >= usual_ns ||
                      at_ns - before_.at_ns >= platform::ns_per_second;
  if (last_.at_ns != 0 && since_last >= shortest_ns && is_old) before_ = last_;
  last_ = {microjoules, at_ns, suspended_ns};
  const std::uint64_t window = at_ns - before_.at_ns;
  if (before_.at_ns == 0 || window < shortest_ns || window > longest_ns) return std::nullopt;
  const auto used = static_cast<double>(microjoules - before_.microjoules);
  return AveragePower{used * 1e3 / static_cast<double>(window), window};
}

std::string link_folder(std::string_view device_folder) {
  const std::string_view upper = parent_of(parent_of(device_folder));
  const bool is_inside =
      drm::read_generation(device_folder) == 1U && drm::read_width(device_folder) == 1U;
  if (!is_inside) return std::string(device_folder);
  return std::string(is_own_bridge(upper) ? upper : std::string_view());
}

// prochot: external signal. ratl: running average thermal limit. fastvmode: voltage regulator at
// its current limit, briefly.
std::uint32_t throttle_bit(std::string_view reason) noexcept {
  if (scan::contains_any(reason, "prochot")) return throttle::hardware;
  if (scan::contains_any(reason, "therm ratl")) return throttle::thermal;
  const bool is_power = scan::contains_any(reason, "pl1 pl2 pl4 tdc iccmax psys fastvmode");
  return is_power ? throttle::power : throttle::other;
}

platform::ErrnoOr<std::uint32_t> read_throttle(const Gt& g) {
  const GtFiles& f = *g.files;
  if (f.throttle_prefix.empty()) return {0, ENOENT};
  const std::string folder = compose({g.folder, f.throttle});
  // One file says whether anything limits the clock; mostly nothing does.
  const auto status = sysfs::read_number(folder, f.throttle_status);
  if (!status || status.value == 0) return {0, status.error};
  std::uint32_t bits = 0;
  int error = 0;
  const int listed = platform::for_each_entry(folder.c_str(), [&](std::string_view name) {
    if (!name.starts_with(f.throttle_prefix) || name == f.throttle_status) return true;
    const auto holds = sysfs::read_number(folder, name);
    // "reasons" of newer kernels is a list of words, not a number.
    if (!holds && holds.error != sysfs::no_number && holds.error != ENOENT) error = holds.error;
    if (holds && holds.value != 0) bits |= throttle_bit(name.substr(f.throttle_prefix.size()));
    return true;
  });
  if (listed != 0 || error != 0) return {0, listed != 0 ? listed : error};
  return {bits != 0 ? bits : throttle::other, 0};
}

int each_number(const std::string& folder, std::string_view prefix,
                FunctionRef<void(std::uint32_t)> visit) {
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

bool looks_integrated(const drm::Card& c, std::string_view chip_name, int& error) {
  if (!c.pci_bus_id.view().starts_with("0000:00:")) return false;
  return drm::find_hwmon(c.folder.view(), chip_name, &error).empty();
}

KnownCard& IntelDriver::of(const drm::Card& c) {
  const auto known = std::ranges::find(known_, c.number, &KnownCard::number);
  if (known != known_.end() && known->doubt == 0) return *known;
  KnownCard& k = known != known_.end() ? *known : known_.emplace_back();
  k.number = c.number;
  k.doubt = 0;
  k.is_integrated = looks_integrated(c, d_.name, k.doubt);
  return k;
}

void IntelDriver::identify(drm::Visit& v, Device& who) {
  const KnownCard& k = of(v.of());
  if (k.doubt != 0) {
    Failure why = sysfs::unreadable(d_.from, k.doubt, v.of().folder.view(), "hwmon");
    return v.diagnose(why, subject::devices, 0);
  }
  const bool is_integrated = k.is_integrated;
  who.form = is_integrated ? DeviceForm::integrated : DeviceForm::discrete;
  who.memory_kind = is_integrated ? MemoryKind::unified : MemoryKind::dedicated;
}

// All memory of an integrated device is host RAM, whatever the region's name. A card's memory that
// firmware reserves is "stolen-local0" or "stolen".
drm::RegionRole IntelDriver::role_of(const drm::Card& c, std::string_view region) const noexcept {
  for (const KnownCard& k : known_) {
    if (k.number == c.number && k.is_integrated) return drm::RegionRole::device;
  }
  return region == "stolen" ? drm::RegionRole::device : drm::usual_role(region);
}

Result<AveragePower> IntelDriver::power_of(const drm::Card& c, const ReadingOfChip& energy) {
  KnownCard& k = of(c);
  EnergyMeter& meter = energy.where == Place::package ? k.package_energy : k.card_energy;
  const auto average = meter.read(static_cast<std::uint64_t>(energy.value),
                                  platform::monotonic_ns(), platform::suspended_ns());
  if (!average) return needs_another(d_.from);
  if (average->watts == 0) return stands_still(d_.from);
  return *average;
}

Result<void> IntelDriver::telemetry(drm::Visit& v, FieldSet fields, hmn::Telemetry& out) {
  Sensors s(v, d_.from, fields);
  out.from = d_.from;
  out.sources = bit_of(d_.from);
  const drm::Card& c = v.of();
  if (drm::is_function_of_listed(c, v.all())) {
    s.blame(drm::of_whole_only(d_.from, of_whole));
    drm::take_load(v, s, out);
    return s.finish();
  }
  int error = 0;
  const std::string folder = drm::find_hwmon(c.folder.view(), d_.name, &error);
  if (error != 0) s.blame(sysfs::unreadable(d_.from, error, c.folder.view(), "hwmon"));
  const Chip has(folder, fields, [&](Quantity what, int why, std::string_view file) {
    s.refuse_file(fields_of(what), why, folder, file);
  });
  take_chip(has, s, out);
  if (const auto why = has.why_no_limit(); !why.empty() && !out.power_limit_watts) {
    s.refuse(power_limit_watts, fail(Status::unsupported, {why}));
  }
  if (const ReadingOfChip* const counted = has.energy(); counted != nullptr) {
    give(s, energy_joules, value_of(*counted), out.energy_joules);
    if (const auto average = power_of(c, *counted)) {
      give(s, power_watts, average->watts, out.power_watts);
    } else {
      s.refuse(power_watts, average.why());
    }
  } else if (has.does_not_count()) {
    s.refuse(energy_joules | power_watts, fail(Status::unsupported, {does_not_count}));
  }
  std::vector<Gt> gts;
  constexpr std::uint32_t of_gts = core_clock_mhz | telemetry_field::throttle;
  error = s.wants(of_gts) ? d_.find_gts(c, gts) : 0;
  if (error != 0) {
    s.refuse(of_gts, sysfs::unreadable(d_.from, error, c.folder.view(), "gt*"));
  } else {
    take_clock(gts, s, out);
    take_throttle(gts, s, out);
  }
  if (s.wants(pcie_generation | pcie_width)) {
    const std::string at = link_folder(c.folder.view());
    if (at.empty()) {
      s.refuse(
          pcie_generation | pcie_width,
          fail(Status::unsupported, "the card's own switch, whose link it is, cannot be seen"));
    } else {
      drm::take_link(at, s, out);
    }
  }
  drm::take_load(v, s, out);
  return s.finish();
}

void IntelDriver::metrics(drm::Visit& v, bool, std::vector<Metric>& out) {
  const drm::Card& c = v.of();
  if (drm::is_function_of_listed(c, v.all())) {
    return v.diagnose(drm::of_whole_only(d_.from, of_whole), subject::metrics, 0);
  }
  Collector all(v, d_.from, out);
  int error = 0;
  const std::string folder = drm::find_hwmon(c.folder.view(), d_.name, &error);
  all.miss_file({}, error, c.folder.view(), "hwmon");
  const Chip has(folder, Chip::everything, [&](Quantity what, int why, std::string_view file) {
    all.miss_file(missing_metric(id_of(what)), why, folder, file);
  });
  for (const ReadingOfChip& r : has.all()) {
    if (is_reported(has, r)) add_reading(r, d_.from, out);
  }
  add_limit(has, Quantity::limit, which::power_limit::current, d_.from, out);
  if (const auto why = has.why_no_limit(); !why.empty() && !has.limit(Quantity::limit)) {
    all.miss(missing_metric(MetricId::power_limit_watts), fail(Status::unsupported, {why}));
  }
  add_limit(has, Quantity::usual_limit, which::power_limit::default_limit, d_.from, out);
  if (const ReadingOfChip* const counted = has.energy(); counted != nullptr) {
    if (const auto average = power_of(c, *counted)) {
      out.push_back(
          measured(d_.from, MetricId::power_watts, instance_of(*counted), average->watts));
      out.back().window_ns = average->window_ns;
    } else {
      all.miss(missing_metric(MetricId::power_watts), average.why());
    }
  } else if (has.does_not_count()) {
    for (const MetricId id : {MetricId::power_watts, MetricId::energy_joules}) {
      all.miss(missing_metric(id), fail(Status::unsupported, {does_not_count}));
    }
  }
  std::vector<Gt> gts;
  all.miss_file(missing_metric(MetricId::clock_mhz), d_.find_gts(c, gts), c.folder.view(), "gt*");
  // The clocks are those of the first tile.
  bool has_main = false, has_media = false;
  for (const Gt& g : gts) {
    if (!std::exchange(g.is_media ? has_media : has_main, true)) all.clocks(g);
  }
}

}  // namespace hmn::intel
