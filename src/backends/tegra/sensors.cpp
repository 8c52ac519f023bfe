// SPDX-License-Identifier: MIT OR Apache-2.0
#include "backends/tegra/sensors.hpp"

#include <cerrno>
#include <optional>
#include <utility>

#include "backends/tegra/files.hpp"
#include "model/compose.hpp"
#include "model/scale.hpp"
#include "model/scan.hpp"
#include "platform/file.hpp"

namespace hmn::tegra {
namespace {

// Boards TX1, Nano, TX2, AGX Xavier.
constexpr const char* own = "VDD_GPU POM_5V_GPU VDD_SYS_GPU GPU";
// Boards AGX Orin; Xavier NX, Orin NX and Nano.
constexpr const char* shared = "VDD_GPU_SOC VDD_CPU_GPU_CV";

void look_at(const std::string& folder, rail& best, bool& is_sure) {
  for (const char channel : {'1', '2', '3'}) {
    const char name[] = {'i', 'n', channel, '_', 'l', 'a', 'b', 'e', 'l', '\0'};
    auto reported = read_line(folder, name);
    if (may_pass(reported.error)) is_sure = false;
    std::string label = std::move(reported.value);
    const feeds what = rail_of(label);
    const bool is_better = what == feeds::gpu_alone || best.what == feeds::nothing_of_it;
    if (what == feeds::nothing_of_it || !is_better) continue;
    best = {what, folder, channel, std::move(label)};
  }
}

// Nodes of NVIDIA GPUs only; "gpu" is also used by other vendors.
constexpr const char* chips = "gk20a gm20b gp10b gv11b ga10b gb10b";

bool is_one(const std::string& folder, std::string& chip) {
  chip = read_line(folder, "of_node/name").value;
  const bool is_named = scan::has_part(chips, ' ', chip);
  const bool is_nvidias =
      chip == "gpu" && has_text_from(read_property(folder, "of_node/compatible"), "nvidia,");
  return (is_named || is_nvidias) && link_name(folder, "driver") != "nouveau";
}

std::string first_entry(const std::string& folder) {
  std::string found;
  (void)platform::for_each_entry(folder.c_str(), [&](std::string_view name) {
    found = compose({folder, "/", name});
    return false;
  });
  return found;
}

namespace field = telemetry_field;

// Sensors without power read -256 degrees from the firmware.
constexpr std::int64_t coldest = -100'000;

class collector {
 public:
  collector(std::uint32_t wanted, reading& r) : wanted_(wanted), left_(wanted), r_(r) {}

  [[nodiscard]] bool wants(std::uint32_t f) const noexcept { return (wanted_ & f) != 0; }
  void found(std::uint32_t f) noexcept { left_ &= ~f; }
  void refuse(const failure& why, std::uint32_t f) {
    f &= left_;
    left_ &= ~f;
    refused_ |= f;
    if (refused_ == wanted_) last_ = why;
    if (f != 0) diagnose(r_, why, subject::telemetry, f);
  }
  result<void> finish(bool is_sure) {
    if (refused_ == wanted_) return std::move(last_);
    if (left_ == 0) return {};
    const failure why =
        is_sure ? fail(status::unsupported, "not supported by this board")
                : fail(status::backend, "not all of this board's sensors could be looked at");
    if ((left_ | refused_) == wanted_) return why;
    diagnose(r_, why, subject::telemetry, left_);
    return {};
  }
  // Reads a value, or reports why it is missing.
  std::optional<std::int64_t> take(std::string_view folder, std::string_view name,
                                   std::uint32_t f) {
    if (!wants(f) || folder.empty()) return {};
    const auto number = read_number(folder, name);
    if (number) return number.value;
    if (number.error != ENOENT) refuse(unreadable(number.error, folder, name), f);
    return {};
  }

 private:
  std::uint32_t wanted_;
  std::uint32_t left_;
  std::uint32_t refused_ = 0;
  failure last_;
  reading& r_;
};

void take_load(const places& at, collector& c, hmn::telemetry& out) {
  constexpr std::int64_t most = 1000;
  const auto permille = c.take(at.of.folder, "load", field::gpu_busy_percent);
  if (!permille || *permille < 0 || *permille > most) return;
  out.gpu_busy_percent = static_cast<double>(*permille) / 10;
  c.found(field::gpu_busy_percent);
}

void take_clock(const places& at, collector& c, hmn::telemetry& out) {
  const auto hertz = c.take(at.of.devfreq, "cur_freq", field::core_clock_mhz);
  if (!hertz || *hertz < 0) return;
  out.core_clock_mhz = static_cast<std::uint32_t>((*hertz + 500'000) / 1'000'000);
  c.found(field::core_clock_mhz);
}

void take_temperature(const places& at, collector& c, hmn::telemetry& out) {
  const auto milli = c.take(at.thermometer, "temp", field::temperature_celsius);
  if (!milli) return;
  if (*milli < coldest)
    return c.refuse(unreadable(EAGAIN, at.thermometer, "temp"), field::temperature_celsius);
  out.temperature_celsius = from_milli.of(static_cast<double>(*milli));
  c.found(field::temperature_celsius);
}

void take_power(const places& at, collector& c, hmn::telemetry& out) {
  if (!c.wants(field::power_watts) || at.power.what == feeds::nothing_of_it) return;
  if (at.power.what == feeds::gpu_and_others) {
    return c.refuse(fail(status::unsupported,
                         {"the rail ", at.power.label, " feeds other parts than the GPU too"}),
                    field::power_watts);
  }
  out.power_watts = read_power(at.power);
  if (out.power_watts) return c.found(field::power_watts);
  c.refuse(unreadable(EIO, at.power.folder, "its rail"), field::power_watts);
}

bool is_of_gpu(std::string_view zone) noexcept {
  return zone == "GPU-therm" || zone == "gpu-thermal" || zone == "gpu-therm";
}

}  // namespace

feeds rail_of(std::string_view label) noexcept {
  if (scan::has_part(own, ' ', label)) return feeds::gpu_alone;
  return scan::has_part(shared, ' ', label) ? feeds::gpu_and_others : feeds::nothing_of_it;
}

rail find_rail(std::string_view sys_root, bool& is_sure) {
  rail best;
  const std::string sensors = compose({sys_root, "/class/hwmon"});
  const int error = platform::for_each_entry(sensors.c_str(), [&](std::string_view name) {
    const std::string folder = compose({sensors, "/", name});
    const auto chip = read_line(folder, "name");
    if (may_pass(chip.error)) is_sure = false;
    if (chip.value == "ina3221") look_at(folder, best, is_sure);
    return best.what != feeds::gpu_alone;
  });
  if (may_pass(error)) is_sure = false;
  return best;
}

std::optional<double> read_power(const rail& r) {
  if (r.what == feeds::nothing_of_it) return std::nullopt;
  const std::string_view channel(&r.channel, 1);
  const auto millivolts = read_number(r.folder, compose({"in", channel, "_input"}));
  const auto milliamperes = read_number(r.folder, compose({"curr", channel, "_input"}));
  if (!millivolts || !milliamperes || millivolts.value < 0 || milliamperes.value < 0) return {};
  return from_micro.of(static_cast<double>(millivolts.value) *
                       static_cast<double>(milliamperes.value));
}

gpu find_gpu(std::string_view sys_root) {
  gpu found;
  const std::string by_clock = compose({sys_root, "/class/devfreq"});
  (void)platform::for_each_entry(by_clock.c_str(), [&](std::string_view name) {
    const std::string devfreq = compose({by_clock, "/", name});
    const std::string folder = devfreq + "/device";
    if (is_one(folder, found.chip)) {
      found.folder = folder;
      found.devfreq = devfreq;
    }
    return found.folder.empty();
  });
  // Name before L4T 32.
  for (const char* const place : {"/devices/gpu.0", "/devices/platform/gpu.0"}) {
    if (!found.folder.empty()) break;
    const std::string folder = compose({sys_root, place});
    if (!is_one(folder, found.chip)) continue;
    found.folder = folder;
    found.devfreq = first_entry(folder + "/devfreq");
  }
  return found;
}

platform::errno_or<std::string> board_name(std::string_view proc_root, std::string_view sys_root) {
  auto by_proc = read_line(proc_root, "device-tree/model");
  return by_proc ? std::move(by_proc) : read_line(sys_root, "firmware/devicetree/base/model");
}

bool is_suspended(const gpu& g) {
  return read_line(g.folder, "power/runtime_status").value.starts_with("suspend");
}

std::string find_thermometer(std::string_view sys_root, bool& is_sure) {
  const std::string zones = compose({sys_root, "/class/thermal"});
  std::string found;
  const int error = platform::for_each_entry(zones.c_str(), [&](std::string_view name) {
    std::string folder = compose({zones, "/", name});
    const auto type = read_line(folder, "type");
    if (may_pass(type.error)) is_sure = false;
    if (is_of_gpu(type.value)) found = std::move(folder);
    return found.empty();
  });
  if (may_pass(error)) is_sure = false;
  return found;
}

result<void> read_sensors(const places& at, std::uint32_t fields, hmn::telemetry& out, reading& r) {
  out.from = source::tegra;
  out.sources = bit_of(source::tegra);
  collector c(fields, r);
  take_load(at, c, out);
  take_clock(at, c, out);
  take_temperature(at, c, out);
  take_power(at, c, out);
  return c.finish(at.is_sure);
}

void add_metrics(const places& at, std::vector<metric>& out, reading& r) {
  const auto miss = [&r](metric_id id, const failure& why) {
    diagnose(r, why, subject::metrics, static_cast<std::uint32_t>(id));
  };
  const auto highest = read_number(at.of.devfreq, "max_freq");
  if (highest && highest.value > 0) {
    out.push_back(measured(source::tegra, metric_id::clock_limit_mhz, which::clock::core,
                           from_micro.of(static_cast<double>(highest.value))));
  } else if (may_pass(highest.error)) {
    miss(metric_id::clock_limit_mhz, unreadable(highest.error, at.of.devfreq, "max_freq"));
  }
  const auto add = [&](std::string_view folder, std::string_view file, metric_id id,
                       std::uint32_t instance, scale unit, double most, double least = 0) {
    const auto number = read_number(folder, file);
    const double value = unit.of(static_cast<double>(number.value));
    if (folder.empty() || number.error == ENOENT) return;
    if (!number || value < least || value > most) {
      return miss(id, unreadable(number ? EINVAL : number.error, folder, file));
    }
    out.push_back(measured(source::tegra, id, instance, value));
  };
  add(at.of.folder, "load", metric_id::engine_percent, which::engine::graphics, {1, 10}, 100);
  add(at.of.devfreq, "cur_freq", metric_id::clock_mhz, which::clock::core, from_micro, 1e5);
  add(at.thermometer, "temp", metric_id::temperature, which::sensor::core, from_milli, 250, -100);
  if (at.power.what == feeds::nothing_of_it) return;
  const bool is_own = at.power.what == feeds::gpu_alone;
  if (const auto watts = read_power(at.power)) {
    out.push_back(measured(source::tegra, metric_id::power_watts,
                           is_own ? 0 : which::power_reading::package, *watts));
  } else {
    miss(metric_id::power_watts, unreadable(EIO, at.power.folder, "its rail"));
  }
}

}  // namespace hmn::tegra
