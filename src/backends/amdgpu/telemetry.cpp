// SPDX-License-Identifier: MIT OR Apache-2.0
#include "backends/amdgpu/telemetry.hpp"

#include <algorithm>
#include <array>
#include <cerrno>

#include "backends/amdgpu/sysfs.hpp"
#include "backends/drm/sensors.hpp"
#include "backends/shared/sysfs/attribute.hpp"

namespace hmn::amdgpu {
namespace {

using namespace telemetry_field;
using Field = FieldSet;
using drm::Sensors;
using drm::Unit;

struct RealField {
  Field is;
  ValueFile from;
  std::optional<double> Telemetry::*to;
};
constexpr RealField reals_in_device[] = {
    {gpu_busy_percent, {{}, {}, "gpu_busy_percent", Unit::percent}, &Telemetry::gpu_busy_percent},
    {memory_busy_percent,
     {{}, {}, "mem_busy_percent", Unit::percent},
     &Telemetry::memory_busy_percent},
};
// Before Linux 6.7 only one of power1_average and power1_input exists, so the average comes first.
constexpr RealField reals_in_hwmon[] = {
    {temperature_celsius,
     {"temp", "edge", "_input", Unit::celsius},
     &Telemetry::temperature_celsius},
    {hotspot_celsius, {"temp", "junction", "_input", Unit::celsius}, &Telemetry::hotspot_celsius},
    {memory_celsius, {"temp", "mem", "_input", Unit::celsius}, &Telemetry::memory_celsius},
    {power_watts, {{}, {}, "power1_average", Unit::watts}, &Telemetry::power_watts},
    {power_watts, {{}, {}, "power1_input", Unit::watts}, &Telemetry::power_watts},
    {power_limit_watts, {{}, {}, "power1_cap", Unit::watts}, &Telemetry::power_limit_watts},
};

struct WholeField {
  Field is;
  ValueFile from;
  std::optional<std::uint32_t> Telemetry::*to;
};
constexpr WholeField whole_in_hwmon[] = {
    {core_clock_mhz, {"freq", "sclk", "_input", Unit::megahertz}, &Telemetry::core_clock_mhz},
    {memory_clock_mhz, {"freq", "mclk", "_input", Unit::megahertz}, &Telemetry::memory_clock_mhz},
    {fan_rpm, {{}, {}, "fan1_input", Unit::rpm}, &Telemetry::fan_rpm},
    {fan_percent, {{}, {}, "pwm1", Unit::duty_of_255}, &Telemetry::fan_percent},
};

struct KnownInput {
  std::string_view input;
  bool is_unlabelled;  // meaning of the input without a label
};
constexpr KnownInput inputs[] = {{"temp1", true}, {"temp2", false}, {"temp3", false},
                                 {"freq1", true}, {"freq2", false}, {"in0", true},
                                 {"in1", false},  {"in2", false}};

std::optional<double> read_one(std::string_view folder, Field is, const ValueFile& from,
                               Sensors& s) {
  if (folder.empty() || !s.wants(is)) return std::nullopt;
  return read_value(folder, from, [&](const Failure& why) { s.refuse(is, why); });
}

void read_reals(std::string_view folder, std::span<const RealField> fields, Sensors& s,
                Telemetry& out) {
  for (const RealField& f : fields) {
    if (out.*f.to > 0.0) continue;
    if (const auto value = read_one(folder, f.is, f.from, s)) s.found(f.is, out.*f.to, *value);
  }
}

void read_clock_level(const drm::Card& c, std::string_view file, Field f, Sensors& s,
                      std::optional<std::uint32_t>& out) {
  if (out || !s.wants(f)) return;
  const ClockLevels all = read_clock_levels(c.folder.view(), file);
  if (all.current_mhz) return s.found(f, out, *all.current_mhz);
  if (all.error != ENOENT) s.refuse(f, why_no_clock(all, c.folder.view(), file));
}

void read_wholes(std::string_view hwmon, Sensors& s, Telemetry& out) {
  for (const WholeField& f : whole_in_hwmon) {
    const auto value = drm::whole(read_one(hwmon, f.is, f.from, s));
    if (value) s.found(f.is, out.*f.to, *value);
  }
}

// Bits of sensors that are far below the limit at which they throttle. The firmware of RDNA 3 and 4
// sets the hotspot's nearly always, also when idle. Nothing if a sensor's temperature or limit is
// unknown: its bit then proves nothing.
std::optional<std::uint64_t> bits_while_cool(std::uint64_t status, std::string_view hwmon,
                                             Sensors& s) {
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
      if (read && read.value != 0) return drm::in_unit(Unit::celsius, read.value);
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

void read_throttle(const drm::Card& c, std::string_view hwmon, Sensors& s, std::uint32_t& none_in,
                   Telemetry& out) {
  constexpr Field throttle = telemetry_field::throttle;
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
  s.refuse(throttle, fail(Status::unsupported,
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

void drop_no_power(drm::Visit& v, Field f, std::optional<double>& watts) {
  if (watts != 0.0) return;
  watts.reset();
  v.diagnose(no_power(), subject::telemetry, f);
}

using drm::Unit;
using Id = MetricId;

struct NumberFile {
  Id is;
  std::uint8_t instance;
  ValueFile from;
};
constexpr NumberFile in_device[] = {
    {Id::engine_percent, which::engine::graphics, {{}, {}, "gpu_busy_percent", Unit::percent}},
    {Id::engine_percent, which::engine::memory, {{}, {}, "mem_busy_percent", Unit::percent}},
    {Id::engine_percent, which::engine::video, {{}, {}, "vcn_busy_percent", Unit::percent}},
};
constexpr NumberFile in_hwmon[] = {
    {Id::temperature, which::sensor::core, {"temp", "edge", "_input", Unit::celsius}},
    {Id::temperature, which::sensor::hotspot, {"temp", "junction", "_input", Unit::celsius}},
    {Id::temperature, which::sensor::memory, {"temp", "mem", "_input", Unit::celsius}},
    {Id::temperature_limit, which::sensor::core, {"temp", "edge", "_crit", Unit::celsius}},
    {Id::temperature_limit, which::sensor::hotspot, {"temp", "junction", "_crit", Unit::celsius}},
    {Id::temperature_limit, which::sensor::memory, {"temp", "mem", "_crit", Unit::celsius}},
    {Id::temperature_shutdown, which::sensor::core, {"temp", "edge", "_emergency", Unit::celsius}},
    {Id::temperature_shutdown,
     which::sensor::hotspot,
     {"temp", "junction", "_emergency", Unit::celsius}},
    {Id::temperature_shutdown, which::sensor::memory, {"temp", "mem", "_emergency", Unit::celsius}},
    {Id::power_watts, which::power_reading::average, {{}, {}, "power1_average", Unit::watts}},
    {Id::power_watts, which::power_reading::instant, {{}, {}, "power1_input", Unit::watts}},
    {Id::power_limit_watts, which::power_limit::current, {{}, {}, "power1_cap", Unit::watts}},
    {Id::power_limit_watts,
     which::power_limit::default_limit,
     {{}, {}, "power1_cap_default", Unit::watts}},
    {Id::power_limit_watts, which::power_limit::min, {{}, {}, "power1_cap_min", Unit::watts}},
    {Id::power_limit_watts, which::power_limit::max, {{}, {}, "power1_cap_max", Unit::watts}},
    {Id::clock_mhz, which::clock::core, {"freq", "sclk", "_input", Unit::megahertz}},
    {Id::clock_mhz, which::clock::memory, {"freq", "mclk", "_input", Unit::megahertz}},
    {Id::fan_rpm, 1, {{}, {}, "fan1_input", Unit::rpm}},
    {Id::fan_percent, 1, {{}, {}, "pwm1", Unit::duty_of_255}},
    {Id::voltage, which::rail::core, {"in", "vddgfx", "_input", Unit::volts}},
    {Id::voltage, which::rail::soc, {"in", "vddnb", "_input", Unit::volts}},
    {Id::voltage, which::rail::board, {"in", "vddboard", "_input", Unit::volts}},
};

struct ClockFile {
  std::uint8_t instance;
  std::string_view file;
};
constexpr ClockFile clocks[] = {
    {which::clock::core, "pp_dpm_sclk"},  {which::clock::memory, "pp_dpm_mclk"},
    {which::clock::soc, "pp_dpm_socclk"}, {which::clock::fabric, "pp_dpm_fclk"},
    {which::clock::video, "pp_dpm_vclk"},
};

class Reader {
 public:
  Reader(drm::Visit& v, std::vector<Metric>& out) : v_(v), out_(out) {}

  void add(Id is, std::uint32_t instance, double value) {
    out_.push_back(measured(Source::amdgpu, is, instance, value));
  }
  void add_count(Id is, std::uint32_t instance, std::optional<std::uint64_t> count) {
    if (count) out_.push_back(counted(Source::amdgpu, is, instance, *count));
  }
  [[nodiscard]] bool has(Id is, std::uint32_t instance) const noexcept {
    for (const Metric& m : out_) {
      if (m.id == is && m.instance == instance) return true;
    }
    return false;
  }
  // A missing file is no diagnostic: most cards lack some.
  void refuse(FieldSet metric, int error, std::string_view folder, std::string_view file) {
    if (error != ENOENT) refuse(metric, unread(error, folder, file));
  }
  void refuse(FieldSet metric, const Failure& why) { v_.diagnose(why, subject::metrics, metric); }
  void read(std::string_view folder, std::span<const NumberFile> files) {
    for (const NumberFile& f : files) read(folder, f);
  }

 private:
  void read(std::string_view folder, const NumberFile& f) {
    const auto value = read_value(
        folder, f.from, [&](const Failure& why) { refuse(missing_metric(f.is, f.instance), why); });
    if (value) add(f.is, f.instance, *value);
  }

  drm::Visit& v_;
  std::vector<Metric>& out_;
};

void read_clocks(std::string_view folder, Reader& to) {
  for (const ClockFile& f : clocks) {
    const ClockLevels levels = read_clock_levels(folder, f.file);
    const bool is_known = to.has(Id::clock_mhz, f.instance);
    if (levels.current_mhz && !is_known) {
      to.add(Id::clock_mhz, f.instance, *levels.current_mhz);
    } else if (!is_known && levels.error != ENOENT) {
      to.refuse(missing_metric(Id::clock_mhz, f.instance), why_no_clock(levels, folder, f.file));
    }
    if (levels.highest_mhz) {
      to.add(Id::clock_limit_mhz, f.instance, *levels.highest_mhz);
    } else if (levels.error != 0) {
      to.refuse(missing_metric(Id::clock_limit_mhz, f.instance), levels.error, folder, f.file);
    }
  }
}

bool is_no_power(const Metric& m) noexcept {
  const bool is_limit = m.id == Id::power_limit_watts && m.instance != which::power_limit::min;
  return m.value == 0.0 && (is_limit || m.id == Id::power_watts);
}

// An APU's power is that of the whole package.
void name_package_power(std::vector<Metric>& all) {
  std::uint32_t seen = 0;
  std::erase_if(all, [&](const Metric& m) { return m.id == Id::power_watts && seen++ != 0; });
  for (Metric& m : all) {
    if (m.id == Id::power_watts) m.instance = which::power_reading::package;
  }
}

void read_errors(std::string_view folder, Reader& to) {
  std::array<char, 256> text;
  constexpr std::string_view file = "ras/umc_err_count";
  const auto got = sysfs::read_text(folder, file, text);
  const ErrorCounts errors = parse_error_counts(got.value);
  const auto take = [&](Id is, std::optional<std::uint64_t> count) {
    to.add_count(is, which::era::since_load, count);
    if (!count)
      to.refuse(missing_metric(is, which::era::since_load), got ? sysfs::no_number : got.error,
                folder, file);
  };
  take(Id::ecc_corrected, errors.corrected);
  take(Id::ecc_uncorrected, errors.uncorrected);
}

void read_table(std::string_view folder, Reader& to) {
  const auto [table, error] = read_gpu_metrics(folder);
  if (error != 0 && error != ENOENT) {
    for (const Id is : {Id::temperature, Id::engine_percent, Id::energy_joules}) {
      to.refuse(missing_metric(is), unread_metrics(error, folder));
    }
  }
  if (table.regulator_celsius) {
    to.add(Id::temperature, which::sensor::regulator, *table.regulator_celsius);
  }
  if (!to.has(Id::engine_percent, which::engine::video)) {
    if (table.media_percent) {
      to.add(Id::engine_percent, which::engine::video, *table.media_percent);
    } else if (table.is_media_ambiguous) {
      to.refuse(missing_metric(Id::engine_percent, which::engine::video),
                with_reason(Reason::ambiguous,
                            fail(Status::unsupported,
                                 "gpu_metrics has percent or hundredths of it for the video "
                                 "engines, depending on the firmware")));
    }
  }
  if (table.energy_joules) {
    to.add(Id::energy_joules, which::power_reading::package, *table.energy_joules);
  }
}

}  // namespace

Failure no_power() {
  return fail(Status::unsupported,
              "0 W: the driver measures no power here; of an MI200, whose halves are GPUs of their "
              "own, it is in the row of the first");
}

std::string hwmon_of(const drm::Card& c, int* error) {
  return drm::find_hwmon(c.folder.view(), "amdgpu", error);
}

platform::ErrnoOr<std::string_view> input_of(std::string_view hwmon, std::string_view kind,
                                             std::string_view label) {
  std::array<char, 32> text, name;
  int failed = 0;
  for (const KnownInput& k : inputs) {
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

// 1002:1478 and 1002:1479 are the ports of the switch on cards since Vega; the card's own link is
// inside the package.
std::string_view slot_folder(const drm::Card& c, std::string_view sys_root) {
  const std::string_view own = c.folder.view();
  const std::string_view downstream = parent_of(own);
  const std::string_view upstream = parent_of(downstream);
  const bool is_below = upstream.size() > sys_root.size();
  return is_below && is_device(downstream, 0x1479) && is_device(upstream, 0x1478) ? upstream : own;
}

Result<void> read_telemetry(drm::Visit& v, FieldSet fields, std::uint32_t& no_throttle_in,
                            Telemetry& out) {
  Sensors s(v, Source::amdgpu, fields);
  const drm::Card& c = v.of();
  out.from = Source::amdgpu;
  out.sources = bit_of(Source::amdgpu);
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

void read_metrics(drm::Visit& v, DeviceForm form, bool slow, std::vector<Metric>& out) {
  Reader to(v, out);
  const std::string_view folder = v.of().folder.view();
  int error = 0;
  const std::string hwmon = hwmon_of(v.of(), &error);
  if (error != 0) to.refuse({}, error, folder, "hwmon");
  to.read(folder, in_device);
  if (!hwmon.empty()) to.read(hwmon, in_hwmon);
  if (std::ranges::any_of(out, is_no_power)) to.refuse(missing_metric(Id::power_watts), no_power());
  std::erase_if(out, is_no_power);
  read_clocks(folder, to);
  if (form == DeviceForm::integrated) name_package_power(out);
  const auto replays = sysfs::read_number(folder, "pcie_replay_count");
  if (replays) {
    to.add_count(Id::pcie_replays, 0, replays.value);
  } else {
    to.refuse(missing_metric(Id::pcie_replays, 0), replays.error, folder, "pcie_replay_count");
  }
  if (!slow) return;
  read_errors(folder, to);
  read_table(folder, to);
}

}  // namespace hmn::amdgpu
