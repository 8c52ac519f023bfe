// SPDX-License-Identifier: MIT OR Apache-2.0
#include "backends/drm/generic_sensors.hpp"

#include <algorithm>
#include <array>
#include <cerrno>

#include "backends/drm/attribute.hpp"
#include "backends/drm/fail.hpp"
#include "backends/drm/hwmon.hpp"
#include "backends/drm/pcie.hpp"
#include "backends/drm/sensors.hpp"
#include "platform/file.hpp"

namespace hmn::drm {
namespace {

using field = std::uint32_t;

constexpr sensors::scale celsius{1e-3, -50, 250};
constexpr sensors::scale watts{1e-6, 0, 10'000};
constexpr sensors::scale joules{1e-6, 0};
constexpr sensors::scale megahertz{1e-6, 0, 100'000};
constexpr sensors::scale turns{1, 0, 30'000};
constexpr sensors::scale duty_of_255{100.0 / 255, 0, 100};
constexpr sensors::scale duty_percent{1, 0, 100};

// Documentation/driver-api/thermal/nouveau_thermal.rst: its pwm1 is in percent. Its fan1_input
// watches the fan turn, for up to 250 ms.
void read_fan(std::string_view folder, bool is_nouveau, sensors& s, hmn::telemetry& out) {
  using namespace telemetry_field;
  std::optional<double> rpm, duty;
  s.take(folder, {"pwm1"}, fan_percent, is_nouveau ? duty_percent : duty_of_255, duty);
  if (!is_nouveau) {
    s.take(folder, {"fan1_input"}, fan_rpm, turns, rpm);
  } else if (s.wants(fan_rpm)) {
    s.refuse(fan_rpm, fail(status::unsupported, "nouveau takes too long to tell it"));
  }
  out.fan_rpm = whole(rpm);
  out.fan_percent = whole(duty);
}

void read_hwmon(std::string_view folder, sensors& s, hmn::telemetry& out) {
  using namespace telemetry_field;
  s.take(folder, {"temp1_input"}, temperature, celsius, out.temperature_celsius);
  s.take(folder, {"power1_average", "power1_input"}, power, watts, out.power_watts);
  s.take(folder, {"power1_cap", "power1_max"}, power_limit, watts, out.power_limit_watts);
  s.take(folder, {"energy1_input"}, energy, joules, out.energy_joules);
}

// <device>/devfreq/<name>
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
  if (!s.wants(telemetry_field::core_clock)) return;
  s.take(devfreq_of(device_folder), {"cur_freq"}, telemetry_field::core_clock, megahertz, mhz);
  out.core_clock_mhz = whole(mhz);
}

void read_link(const card& c, sensors& s, hmn::telemetry& out) {
  if (!c.pci_bus_id.empty() && c.bus.view() == "pci") take_link(c.folder.view(), s, out);
}

void read_load(visit& v, sensors& s, hmn::telemetry& out) {
  using namespace telemetry_field;
  if (!s.wants(gpu_busy | window)) return;
  if (!v.of().counts_engines) {
    return s.refuse(gpu_busy | window, why_not_counted(v.of()));
  }
  const result<card_load> load = v.load();
  if (!load) return s.refuse(gpu_busy | window, load.why());
  double most = 0;
  for (const engine_load& e : load->engines) most = std::max(most, e.percent);
  if (load->is_partial) out.notes |= note::lower_bound;
  if (s.wants(gpu_busy)) s.found(gpu_busy, out.gpu_busy_percent, std::min(most, 100.0));
  if (s.wants(window)) s.found(window, out.window_ns, load->window_ns);
}

}  // namespace

result<void> read_sensors(visit& v, std::uint32_t fields, hmn::telemetry& out) {
  sensors s(v, source::drm, fields);
  out.from = source::drm;
  out.sources = std::uint64_t{1} << static_cast<unsigned>(source::drm);
  if (const std::string chip = find_hwmon(v.of().folder.view(), {}); !chip.empty()) {
    read_hwmon(chip, s, out);
    read_fan(chip, v.of().driver_name.view() == "nouveau", s, out);
  }
  read_clock(v.of().folder.view(), s, out);
  read_link(v.of(), s, out);
  read_load(v, s, out);
  return s.finish();
}

}  // namespace hmn::drm
