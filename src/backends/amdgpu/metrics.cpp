// SPDX-License-Identifier: MIT OR Apache-2.0
#include <algorithm>
#include <array>
#include <cerrno>

#include "backends/amdgpu/gpu_metrics.hpp"
#include "backends/amdgpu/sysfs.hpp"
#include "backends/amdgpu/telemetry.hpp"
#include "backends/shared/sysfs/attribute.hpp"

namespace hmn::amdgpu {
namespace {

using drm::unit;
using id = metric_id;

// Metric read from one file.
struct number_file {
  id is;
  std::uint8_t instance;
  value_file from;
};
constexpr number_file in_device[] = {
    {id::engine_percent, which::engine::graphics, {{}, {}, "gpu_busy_percent", unit::percent}},
    {id::engine_percent, which::engine::memory, {{}, {}, "mem_busy_percent", unit::percent}},
    {id::engine_percent, which::engine::video, {{}, {}, "vcn_busy_percent", unit::percent}},
};
constexpr number_file in_hwmon[] = {
    {id::temperature, which::sensor::core, {"temp", "edge", "_input", unit::celsius}},
    {id::temperature, which::sensor::hotspot, {"temp", "junction", "_input", unit::celsius}},
    {id::temperature, which::sensor::memory, {"temp", "mem", "_input", unit::celsius}},
    {id::temperature_limit, which::sensor::core, {"temp", "edge", "_crit", unit::celsius}},
    {id::temperature_limit, which::sensor::hotspot, {"temp", "junction", "_crit", unit::celsius}},
    {id::temperature_limit, which::sensor::memory, {"temp", "mem", "_crit", unit::celsius}},
    {id::temperature_shutdown, which::sensor::core, {"temp", "edge", "_emergency", unit::celsius}},
    {id::temperature_shutdown,
     which::sensor::hotspot,
     {"temp", "junction", "_emergency", unit::celsius}},
    {id::temperature_shutdown, which::sensor::memory, {"temp", "mem", "_emergency", unit::celsius}},
    {id::power_watts, which::power_reading::average, {{}, {}, "power1_average", unit::watts}},
    {id::power_watts, which::power_reading::instant, {{}, {}, "power1_input", unit::watts}},
    {id::power_limit_watts, which::power_limit::current, {{}, {}, "power1_cap", unit::watts}},
    {id::power_limit_watts,
     which::power_limit::default_limit,
     {{}, {}, "power1_cap_default", unit::watts}},
    {id::power_limit_watts, which::power_limit::min, {{}, {}, "power1_cap_min", unit::watts}},
    {id::power_limit_watts, which::power_limit::max, {{}, {}, "power1_cap_max", unit::watts}},
    {id::clock_mhz, which::clock::core, {"freq", "sclk", "_input", unit::megahertz}},
    {id::clock_mhz, which::clock::memory, {"freq", "mclk", "_input", unit::megahertz}},
    {id::fan_rpm, 1, {{}, {}, "fan1_input", unit::rpm}},
    {id::fan_percent, 1, {{}, {}, "pwm1", unit::duty_of_255}},
    {id::voltage, which::rail::core, {"in", "vddgfx", "_input", unit::volts}},
    {id::voltage, which::rail::soc, {"in", "vddnb", "_input", unit::volts}},
    {id::voltage, which::rail::board, {"in", "vddboard", "_input", unit::volts}},
};

struct clock_file {
  std::uint8_t instance;
  std::string_view file;
};
constexpr clock_file clocks[] = {
    {which::clock::core, "pp_dpm_sclk"},  {which::clock::memory, "pp_dpm_mclk"},
    {which::clock::soc, "pp_dpm_socclk"}, {which::clock::fabric, "pp_dpm_fclk"},
    {which::clock::video, "pp_dpm_vclk"},
};

class reader {
 public:
  reader(drm::visit& v, std::vector<metric>& out) : v_(v), out_(out) {}

  void add(id is, std::uint32_t instance, double value) {
    out_.push_back(measured(source::amdgpu, is, instance, value));
  }
  void add_count(id is, std::uint32_t instance, std::optional<std::uint64_t> count) {
    if (count) out_.push_back(counted(source::amdgpu, is, instance, *count));
  }
  [[nodiscard]] bool has(id is, std::uint32_t instance) const noexcept {
    for (const metric& m : out_) {
      if (m.id == is && m.instance == instance) return true;
    }
    return false;
  }
  // A missing file is no diagnostic: most cards lack it.
  void refuse(id is, int error, std::string_view folder, std::string_view file) {
    if (error != ENOENT) refuse(is, unread(error, folder, file));
  }
  void refuse(id is, const failure& why) {
    v_.diagnose(why, subject::metrics, static_cast<std::uint32_t>(is));
  }
  void read(std::string_view folder, std::span<const number_file> files) {
    for (const number_file& f : files) read(folder, f);
  }

 private:
  void read(std::string_view folder, const number_file& f) {
    const auto value = read_value(folder, f.from, [&](const failure& why) { refuse(f.is, why); });
    if (value) add(f.is, f.instance, *value);
  }

  drm::visit& v_;
  std::vector<metric>& out_;
};

void read_clocks(std::string_view folder, reader& to) {
  for (const clock_file& f : clocks) {
    const clock_levels levels = read_clock_levels(folder, f.file);
    const bool is_known = to.has(id::clock_mhz, f.instance);
    if (levels.current_mhz && !is_known) {
      to.add(id::clock_mhz, f.instance, *levels.current_mhz);
    } else if (!is_known && levels.error != ENOENT) {
      to.refuse(id::clock_mhz, why_no_clock(levels, folder, f.file));
    }
    if (levels.highest_mhz) {
      to.add(id::clock_limit_mhz, f.instance, *levels.highest_mhz);
    } else if (levels.error != 0) {
      to.refuse(id::clock_limit_mhz, levels.error, folder, f.file);
    }
  }
}

bool is_no_power(const metric& m) noexcept {
  const bool is_limit = m.id == id::power_limit_watts && m.instance != which::power_limit::min;
  return m.value == 0.0 && (is_limit || m.id == id::power_watts);
}

// Power of an APU is that of the whole package.
void name_package_power(std::vector<metric>& all) {
  std::uint32_t seen = 0;
  std::erase_if(all, [&](const metric& m) { return m.id == id::power_watts && seen++ != 0; });
  for (metric& m : all) {
    if (m.id == id::power_watts) m.instance = which::power_reading::package;
  }
}

void read_errors(std::string_view folder, reader& to) {
  std::array<char, 256> text;
  constexpr std::string_view file = "ras/umc_err_count";
  const auto got = sysfs::read_text(folder, file, text);
  const error_counts errors = parse_error_counts(got.value);
  const auto take = [&](id is, std::optional<std::uint64_t> count) {
    to.add_count(is, which::era::since_load, count);
    if (!count) to.refuse(is, got ? sysfs::no_number : got.error, folder, file);
  };
  take(id::ecc_corrected, errors.corrected);
  take(id::ecc_uncorrected, errors.uncorrected);
}

void read_table(std::string_view folder, reader& to) {
  const auto [table, error] = read_gpu_metrics(folder);
  if (error != 0 && error != ENOENT) {
    for (const id is : {id::temperature, id::engine_percent, id::energy_joules}) {
      to.refuse(is, unread_metrics(error, folder));
    }
  }
  if (table.regulator_celsius) {
    to.add(id::temperature, which::sensor::regulator, *table.regulator_celsius);
  }
  if (!to.has(id::engine_percent, which::engine::video)) {
    if (table.media_percent) {
      to.add(id::engine_percent, which::engine::video, *table.media_percent);
    } else if (table.is_media_ambiguous) {
      to.refuse(id::engine_percent,
                with_reason(reason::ambiguous,
                            fail(status::unsupported,
                                 "gpu_metrics has percent or hundredths of it for the video "
                                 "engines, depending on the firmware")));
    }
  }
  if (table.energy_joules) {
    to.add(id::energy_joules, which::power_reading::package, *table.energy_joules);
  }
}

}  // namespace

void read_metrics(drm::visit& v, device_kind kind, bool slow, std::vector<metric>& out) {
  reader to(v, out);
  const std::string_view folder = v.of().folder.view();
  int error = 0;
  const std::string hwmon = hwmon_of(v.of(), &error);
  if (error != 0) to.refuse({}, error, folder, "hwmon");
  to.read(folder, in_device);
  if (!hwmon.empty()) to.read(hwmon, in_hwmon);
  if (std::ranges::any_of(out, is_no_power)) to.refuse(id::power_watts, no_power());
  std::erase_if(out, is_no_power);
  read_clocks(folder, to);
  if (kind == device_kind::integrated) name_package_power(out);
  const auto replays = sysfs::read_number(folder, "pcie_replay_count");
  if (replays) {
    to.add_count(id::pcie_replays, 0, replays.value);
  } else {
    to.refuse(id::pcie_replays, replays.error, folder, "pcie_replay_count");
  }
  if (!slow) return;
  read_errors(folder, to);
  read_table(folder, to);
}

}  // namespace hmn::amdgpu
