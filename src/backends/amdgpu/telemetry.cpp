// SPDX-License-Identifier: MIT OR Apache-2.0
#include "backends/amdgpu/telemetry.hpp"

#include <array>
#include <cerrno>

#include "backends/amdgpu/gpu_metrics.hpp"
#include "backends/amdgpu/sysfs.hpp"
#include "backends/drm/pcie.hpp"
#include "backends/drm/sensors.hpp"
#include "backends/shared/sysfs/attribute.hpp"

namespace hmn::amdgpu {
namespace {

using namespace telemetry_field;
using field = std::uint32_t;
using drm::sensors;
using drm::unit;

// Source of one field.
struct real_field {
  field is;
  value_file from;
  std::optional<double> telemetry::*to;
};
constexpr real_field reals_in_device[] = {
    {gpu_busy_percent, {{}, {}, "gpu_busy_percent", unit::percent}, &telemetry::gpu_busy_percent},
    {memory_busy_percent,
     {{}, {}, "mem_busy_percent", unit::percent},
     &telemetry::memory_busy_percent},
};
// Before Linux 6.7 only one of power1_average and power1_input exists, so the average comes first.
constexpr real_field reals_in_hwmon[] = {
    {temperature_celsius,
     {"temp", "edge", "_input", unit::celsius},
     &telemetry::temperature_celsius},
    {hotspot_celsius, {"temp", "junction", "_input", unit::celsius}, &telemetry::hotspot_celsius},
    {memory_celsius, {"temp", "mem", "_input", unit::celsius}, &telemetry::memory_celsius},
    {power_watts, {{}, {}, "power1_average", unit::watts}, &telemetry::power_watts},
    {power_watts, {{}, {}, "power1_input", unit::watts}, &telemetry::power_watts},
    {power_limit_watts, {{}, {}, "power1_cap", unit::watts}, &telemetry::power_limit_watts},
};

struct whole_field {
  field is;
  value_file from;
  std::optional<std::uint32_t> telemetry::*to;
};
constexpr whole_field whole_in_hwmon[] = {
    {core_clock_mhz, {"freq", "sclk", "_input", unit::megahertz}, &telemetry::core_clock_mhz},
    {memory_clock_mhz, {"freq", "mclk", "_input", unit::megahertz}, &telemetry::memory_clock_mhz},
    {fan_rpm, {{}, {}, "fan1_input", unit::rpm}, &telemetry::fan_rpm},
    {fan_percent, {{}, {}, "pwm1", unit::duty_of_255}, &telemetry::fan_percent},
};

struct known_input {
  std::string_view input;
  bool is_unlabelled;  // meaning of the input without a label
};
constexpr known_input inputs[] = {{"temp1", true}, {"temp2", false}, {"temp3", false},
                                  {"freq1", true}, {"freq2", false}, {"in0", true},
                                  {"in1", false},  {"in2", false}};

std::optional<double> read_one(std::string_view folder, field is, const value_file& from,
                               sensors& s) {
  if (folder.empty() || !s.wants(is)) return std::nullopt;
  return read_value(folder, from, [&](const failure& why) { s.refuse(is, why); });
}

void read_reals(std::string_view folder, std::span<const real_field> fields, sensors& s,
                telemetry& out) {
  for (const real_field& f : fields) {
    if (out.*f.to > 0.0) continue;
    if (const auto value = read_one(folder, f.is, f.from, s)) s.found(f.is, out.*f.to, *value);
  }
}

void read_clock_level(const drm::card& c, std::string_view file, field f, sensors& s,
                      std::optional<std::uint32_t>& out) {
  if (out || !s.wants(f)) return;
  const clock_levels all = read_clock_levels(c.folder.view(), file);
  if (all.current_mhz) return s.found(f, out, *all.current_mhz);
  if (all.error != ENOENT) s.refuse(f, why_no_clock(all, c.folder.view(), file));
}

void read_wholes(std::string_view hwmon, sensors& s, telemetry& out) {
  for (const whole_field& f : whole_in_hwmon) {
    const auto value = drm::whole(read_one(hwmon, f.is, f.from, s));
    if (value) s.found(f.is, out.*f.to, *value);
  }
}

// Bits of sensors that are far below the limit at which they throttle. The firmware of RDNA 3 and 4
// sets that of the hotspot nearly always, also when idle. Nothing if the temperature or the limit
// of a sensor is not known: its bit determines nothing then.
std::optional<std::uint64_t> bits_while_cool(std::uint64_t status, std::string_view hwmon,
                                             sensors& s) {
  static constexpr std::string_view labels[] = {"edge", "junction", "mem"};
  constexpr double far_below = 10;  // C
  std::uint64_t bits = 0;
  for (std::size_t i = 0; i < hot_bits.size(); ++i) {
    if ((status & hot_bits[i]) == 0) continue;
    const auto input = input_of(hwmon, "temp", labels[i]);
    const auto celsius = [&](std::string_view end) -> std::optional<double> {
      std::array<char, 24> name;
      const std::string_view file = compose_in(name, {input.value, end});
      const auto read = sysfs::read_signed(hwmon, file);
      if (read && read.value != 0) return drm::in_unit(unit::celsius, read.value);
      s.refuse(telemetry_field::throttle,
               unread(read ? sysfs::no_number : read.error, hwmon, file));
      return std::nullopt;
    };
    const auto limit = celsius("_crit");
    const auto now = limit ? celsius("_input") : std::nullopt;
    if (!now) return std::nullopt;
    if (*now + far_below < *limit) bits |= hot_bits[i];
  }
  return bits;
}

void read_throttle(const drm::card& c, std::string_view hwmon, sensors& s, std::uint32_t& none_in,
                   telemetry& out) {
  constexpr field throttle = telemetry_field::throttle;
  if (!s.wants(throttle)) return;
  const std::string_view folder = c.folder.view();
  if (none_in == 0) {
    const auto all = read_gpu_metrics(folder);
    if (all && all.value.throttle) {
      const auto untrue = bits_while_cool(*all.value.throttle, hwmon, s);
      if (!untrue) return;
      return s.found(throttle, out.throttle, throttle_of(*all.value.throttle & ~*untrue));
    }
    if (!all && all.error == ENOENT) return;
    if (!all) return s.refuse(throttle, unread_metrics(all.error, folder));
    none_in = all.value.format * 256U + all.value.content;
  }
  s.refuse(throttle, fail(status::unsupported,
                          {folder, "/gpu_metrics (format ", none_in / 256, ".", none_in % 256,
                           ") does not report why the card throttles now"}));
}

bool is_device(std::string_view folder, std::uint64_t device) {
  const auto maker = sysfs::read_hex(folder, "vendor");
  const auto is = sysfs::read_hex(folder, "device");
  return maker && is && maker.value == vendor::amd && is.value == device;
}

std::string_view parent_of(std::string_view folder) noexcept {
  return folder.substr(0, folder.rfind('/'));
}

void drop_no_power(drm::visit& v, field f, std::optional<double>& watts) {
  if (watts != 0.0) return;
  watts.reset();
  v.diagnose(no_power(), subject::telemetry, f);
}

}  // namespace

failure no_power() {
  return fail(status::unsupported,
              "0 W: the driver measures no power here; of an MI200, whose halves are GPUs of their "
              "own, it is in the row of the first");
}

std::string hwmon_of(const drm::card& c, int* error) {
  return drm::find_hwmon(c.folder.view(), "amdgpu", error);
}

platform::errno_or<std::string_view> input_of(std::string_view hwmon, std::string_view kind,
                                              std::string_view label) {
  std::array<char, 32> text, name;
  int failed = 0;
  for (const known_input& k : inputs) {
    if (!k.input.starts_with(kind)) continue;
    const auto reported = sysfs::read_line(hwmon, compose_in(name, {k.input, "_label"}), text);
    if (reported ? reported.value == label
                 : k.is_unlabelled && reported.error == ENOENT &&
                       (label == "edge" || label == "sclk" || label == "vddgfx")) {
      return {k.input, 0};
    }
    if (!reported && reported.error != ENOENT) failed = reported.error;
  }
  return {{}, failed};
}

// 1002:1478 and 1002:1479 are the ports of the switch on cards since Vega: the card's own link is
// internal to the package.
std::string_view slot_folder(const drm::card& c, std::string_view sys_root) {
  const std::string_view own = c.folder.view();
  const std::string_view downstream = parent_of(own);
  const std::string_view upstream = parent_of(downstream);
  const bool is_below = upstream.size() > sys_root.size();
  return is_below && is_device(downstream, 0x1479) && is_device(upstream, 0x1478) ? upstream : own;
}

result<void> read_telemetry(drm::visit& v, std::uint32_t fields, std::uint32_t& no_throttle_in,
                            telemetry& out) {
  sensors s(v, source::amdgpu, fields);
  const drm::card& c = v.of();
  out.from = source::amdgpu;
  out.sources = bit_of(source::amdgpu);
  int error = 0;
  const std::string hwmon = hwmon_of(c, &error);
  if (error != 0) s.blame(unread(error, c.folder.view(), "hwmon"));
  read_reals(c.folder.view(), reals_in_device, s, out);
  read_reals(hwmon, reals_in_hwmon, s, out);
  drop_no_power(v, power_watts, out.power_watts);
  drop_no_power(v, power_limit_watts, out.power_limit_watts);
  read_wholes(hwmon, s, out);
  read_clock_level(c, "pp_dpm_sclk", core_clock_mhz, s, out.core_clock_mhz);
  read_clock_level(c, "pp_dpm_mclk", memory_clock_mhz, s, out.memory_clock_mhz);
  drm::take_link(slot_folder(c, v.sys_root()), s, out);
  read_throttle(c, hwmon, s, no_throttle_in, out);
  return s.finish();
}

}  // namespace hmn::amdgpu
