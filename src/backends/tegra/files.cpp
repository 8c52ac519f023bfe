// SPDX-License-Identifier: MIT OR Apache-2.0
#include "backends/tegra/files.hpp"

#include <array>
#include <cerrno>

#include "backends/shared/sysfs/attribute.hpp"
#include "model/failure.hpp"
#include "model/message_text.hpp"
#include "model/scale.hpp"
#include "model/scan.hpp"
#include "platform/file.hpp"

namespace hmn::tegra {
namespace {

std::string_view take_last_word(std::string_view& line) noexcept {
  line = scan::trim(line);
  std::size_t start = line.size();
  while (start > 0 && !scan::is_blank(line[start - 1])) --start;
  const std::string_view word = line.substr(start);
  line.remove_suffix(word.size());
  return word;
}

// Parses "12345K".
std::optional<std::uint64_t> size_of(std::string_view word) noexcept {
  if (!word.ends_with('K')) return std::nullopt;
  word.remove_suffix(1);
  const auto kibibytes = scan::number(word);
  return kibibytes ? scan::product(*kibibytes, 1024) : std::nullopt;
}

// Names may contain blanks, but size and pid come last.
bool take_client(std::string_view line, nvmap_clients& out) {
  const auto size = size_of(take_last_word(line));
  const auto pid = scan::number<std::uint32_t>(take_last_word(line));
  if (!size || !pid || scan::trim(line).empty()) return false;
  // Pid 0 is the kernel.
  if (*pid != 0) out.all.push_back({*pid, *size});
  return true;
}

using sysfs::path_text;
using sysfs::read_line;
using word = std::array<char, 128>;

// Boards TX1, Nano, TX2, AGX Xavier.
constexpr const char* own = "VDD_GPU POM_5V_GPU VDD_SYS_GPU GPU";
// Boards AGX Orin; Xavier NX, Orin NX and Nano.
constexpr const char* shared = "VDD_GPU_SOC VDD_CPU_GPU_CV";

void look_at(std::string_view folder, rail& best, bool& is_sure) {
  for (std::uint32_t channel = 1; channel <= 3; ++channel) {
    word name, buffer;
    const auto label = read_line(folder, compose_in(name, {"in", channel, "_label"}), buffer);
    if (may_pass(label.error)) is_sure = false;
    const feeds what = rail_of(label.value);
    const bool is_better = what == feeds::gpu_alone || best.what == feeds::nothing_of_it;
    if (what == feeds::nothing_of_it || !is_better) continue;
    best = {what, text<512>(folder), channel, text<32>(label.value)};
  }
}

// Nodes of NVIDIA's GPUs; other vendors also use "gpu".
constexpr const char* chips = "gk20a gm20b gp10b gv11b ga10b gb10b";

// "compatible" is a list of names.
bool is_nvidias(std::string_view folder) {
  std::array<char, 512> buffer;
  return has_text_from(sysfs::read_text(folder, "of_node/compatible", buffer).value, "nvidia,");
}

bool is_one(std::string_view folder) {
  word buffer;
  const std::string_view chip = read_line(folder, "of_node/name", buffer).value;
  return (scan::has_part(chips, ' ', chip) || (chip == "gpu" && is_nvidias(folder))) &&
         sysfs::read_link_name(folder, "driver").view() != "nouveau";
}

namespace field = telemetry_field;

// The firmware reports -256 degrees for sensors without power.
constexpr std::int64_t coldest = -100'000;

class collector {
 public:
  collector(FieldSet wanted, reading& r) : wanted_(wanted), left_(wanted), r_(r) {}

  [[nodiscard]] bool wants(FieldSet f) const noexcept { return (wanted_ & f) != 0; }
  void found(FieldSet f) noexcept { left_ &= ~f; }
  void refuse(const failure& why, FieldSet f) {
    f &= left_;
    left_ &= ~f;
    refused_ |= f;
    if (refused_ == wanted_) last_ = why;
    if (f != 0) diagnose(r_, why, subject::telemetry, f);
  }
  result<void> finish(bool is_sure) {
    if (refused_ == wanted_) return std::move(last_);
    if (left_ == 0) return {};
    const failure why = is_sure
                            ? fail(status::unsupported, "not supported by this board")
                            : fail(status::backend, "not all sensors of this board could be read");
    if ((left_ | refused_) == wanted_) return why;
    diagnose(r_, why, subject::telemetry, left_);
    return {};
  }
  // Reads a value, or reports why it is missing.
  std::optional<std::int64_t> take(std::string_view folder, std::string_view name, FieldSet f) {
    if (!wants(f) || folder.empty()) return {};
    const auto number = read_number(folder, name);
    if (number) return number.value;
    if (number.error != ENOENT) refuse(unreadable(number.error, folder, name), f);
    return {};
  }

 private:
  FieldSet wanted_;
  FieldSet left_;
  FieldSet refused_ = 0;
  failure last_;
  reading& r_;
};

void take_load(const places& at, collector& c, hmn::telemetry& out) {
  constexpr std::int64_t most = 1000;
  const auto permille = c.take(at.of.folder.view(), "load", field::gpu_busy_percent);
  if (!permille || *permille < 0 || *permille > most) return;
  out.gpu_busy_percent = static_cast<double>(*permille) / 10;
  c.found(field::gpu_busy_percent);
}

void take_clock(const places& at, collector& c, hmn::telemetry& out) {
  const auto hertz = c.take(at.of.devfreq.view(), "cur_freq", field::core_clock_mhz);
  if (!hertz || *hertz < 0) return;
  out.core_clock_mhz = static_cast<std::uint32_t>((*hertz + 500'000) / 1'000'000);
  c.found(field::core_clock_mhz);
}

void take_temperature(const places& at, collector& c, hmn::telemetry& out) {
  const auto milli = c.take(at.thermometer.view(), "temp", field::temperature_celsius);
  if (!milli) return;
  if (*milli < coldest)
    return c.refuse(unreadable(EAGAIN, at.thermometer.view(), "temp"), field::temperature_celsius);
  out.temperature_celsius = from_milli.of(static_cast<double>(*milli));
  c.found(field::temperature_celsius);
}

void take_power(const places& at, collector& c, hmn::telemetry& out) {
  if (!c.wants(field::power_watts) || at.power.what == feeds::nothing_of_it) return;
  if (at.power.what == feeds::gpu_and_others) {
    return c.refuse(fail(status::unsupported, {"the rail ", at.power.label.view(),
                                               " feeds other parts than the GPU too"}),
                    field::power_watts);
  }
  out.power_watts = read_power(at.power);
  if (out.power_watts) return c.found(field::power_watts);
  c.refuse(unreadable(EIO, at.power.folder.view(), "its rail"), field::power_watts);
}

bool is_of_gpu(std::string_view zone) noexcept {
  return scan::has_part("GPU-therm gpu-thermal gpu-therm", ' ', zone);
}

}  // namespace

platform::errno_or<std::int64_t> read_number(std::string_view folder, std::string_view name) {
  auto number = sysfs::read_signed(folder, name);
  if (number.error == sysfs::no_number) number.error = EINVAL;
  return number;
}

bool has_text_from(std::string_view list, std::string_view beginning) noexcept {
  while (!list.empty()) {
    if (scan::take_until(list, '\0').starts_with(beginning)) return true;
  }
  return false;
}

bool may_pass(int error) noexcept {
  return error != 0 && error != ENOENT && error != EINVAL && !is_refused(error);
}

void diagnose(reading& r, const failure& why, std::uint32_t about, FieldSet field) {
  if (!r.wants_diagnostics()) return;
  diagnostic d;
  d.why = why;
  d.about = about;
  d.field = field;
  d.device = 0;
  r.diagnose(d);
}

failure unreadable(int error, std::string_view folder, std::string_view name) {
  const bool refused = is_refused(error);
  return fail(
      refused ? status::permission : status::backend,
      {folder, "/", name,
       refused ? ": the system refuses to let this user read it" : ": it gives no number now"},
      error);
}

nvmap_clients parse_nvmap(std::string_view text) {
  nvmap_clients out;
  while (!text.empty()) {
    std::string_view line = scan::trim(scan::take_line(text));
    if (line.empty() || line.starts_with("CLIENT")) continue;
    std::string_view rest = line;
    if (scan::take_word(rest) == "total") {
      out.total = size_of(scan::trim(rest));
      out.is_odd = out.is_odd || !out.total;
    } else if (!take_client(line, out)) {
      out.is_odd = true;
    }
  }
  return out;
}

feeds rail_of(std::string_view label) noexcept {
  if (scan::has_part(own, ' ', label)) return feeds::gpu_alone;
  return scan::has_part(shared, ' ', label) ? feeds::gpu_and_others : feeds::nothing_of_it;
}

rail find_rail(std::string_view sys_root, bool& is_sure) {
  rail best;
  const path_text sensors{sys_root, "/class/hwmon"};
  const int error = platform::for_each_entry(sensors.c_str(), [&](std::string_view name) {
    const path_text folder{sensors.view(), "/", name};
    word buffer;
    const auto chip = read_line(folder.view(), "name", buffer);
    if (may_pass(chip.error)) is_sure = false;
    if (chip.value == "ina3221") look_at(folder.view(), best, is_sure);
    return best.what != feeds::gpu_alone;
  });
  if (may_pass(error)) is_sure = false;
  return best;
}

std::optional<double> read_power(const rail& r) {
  if (r.what == feeds::nothing_of_it) return std::nullopt;
  word name;
  const auto millivolts =
      read_number(r.folder.view(), compose_in(name, {"in", r.channel, "_input"}));
  const auto milliamperes =
      read_number(r.folder.view(), compose_in(name, {"curr", r.channel, "_input"}));
  if (!millivolts || !milliamperes || millivolts.value < 0 || milliamperes.value < 0) return {};
  return from_micro.of(static_cast<double>(millivolts.value) *
                       static_cast<double>(milliamperes.value));
}

gpu find_gpu(std::string_view sys_root) {
  gpu found;
  const path_text by_clock{sys_root, "/class/devfreq"};
  (void)platform::for_each_entry(by_clock.c_str(), [&](std::string_view name) {
    const path_text devfreq{by_clock.view(), "/", name};
    const path_text folder{devfreq.view(), "/device"};
    if (is_one(folder.view())) {
      found.folder.assign(folder.view());
      found.devfreq.assign(devfreq.view());
    }
    return found.folder.empty();
  });
  // Its name before L4T 32.
  for (const char* const place : {"/devices/gpu.0", "/devices/platform/gpu.0"}) {
    if (!found.folder.empty()) break;
    const path_text folder{sys_root, place};
    if (!is_one(folder.view())) continue;
    found.folder.assign(folder.view());
    const path_text all{folder.view(), "/devfreq"};
    (void)platform::for_each_entry(all.c_str(), [&](std::string_view name) {
      found.devfreq.assign(path_text{all.view(), "/", name}.view());
      return false;
    });
  }
  return found;
}

int read_board_name(std::string_view proc_root, std::string_view sys_root, text<256>& out) {
  std::array<char, 512> buffer;
  auto name = read_line(proc_root, "device-tree/model", buffer);
  if (!name) name = read_line(sys_root, "firmware/devicetree/base/model", buffer);
  out.assign(name.value);
  return name.error;
}

text<512> find_thermometer(std::string_view sys_root, bool& is_sure) {
  const path_text zones{sys_root, "/class/thermal"};
  text<512> found;
  const int error = platform::for_each_entry(zones.c_str(), [&](std::string_view name) {
    const path_text folder{zones.view(), "/", name};
    word buffer;
    const auto type = read_line(folder.view(), "type", buffer);
    if (may_pass(type.error)) is_sure = false;
    if (is_of_gpu(type.value)) found.assign(folder.view());
    return found.empty();
  });
  if (may_pass(error)) is_sure = false;
  return found;
}

result<void> read_sensors(const places& at, FieldSet fields, hmn::telemetry& out, reading& r) {
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
  const auto miss = [&r](metric_id id, std::uint32_t instance, const failure& why) {
    diagnose(r, why, subject::metrics, missing_metric(id, instance));
  };
  const auto highest = read_number(at.of.devfreq.view(), "max_freq");
  if (highest && highest.value > 0) {
    out.push_back(measured(source::tegra, metric_id::clock_limit_mhz, which::clock::core,
                           from_micro.of(static_cast<double>(highest.value))));
  } else if (may_pass(highest.error)) {
    miss(metric_id::clock_limit_mhz, which::clock::core,
         unreadable(highest.error, at.of.devfreq.view(), "max_freq"));
  }
  const auto add = [&](std::string_view folder, std::string_view file, metric_id id,
                       std::uint32_t instance, scale unit, double most, double least = 0) {
    const auto number = read_number(folder, file);
    const double value = unit.of(static_cast<double>(number.value));
    if (folder.empty() || number.error == ENOENT) return;
    if (!number || value < least || value > most) {
      return miss(id, instance, unreadable(number ? EINVAL : number.error, folder, file));
    }
    out.push_back(measured(source::tegra, id, instance, value));
  };
  add(at.of.folder.view(), "load", metric_id::engine_percent, which::engine::graphics, {1, 10},
      100);
  add(at.of.devfreq.view(), "cur_freq", metric_id::clock_mhz, which::clock::core, from_micro, 1e5);
  add(at.thermometer.view(), "temp", metric_id::temperature, which::sensor::core, from_milli, 250,
      -100);
  if (at.power.what == feeds::nothing_of_it) return;
  const bool is_own = at.power.what == feeds::gpu_alone;
  const std::uint32_t instance = is_own ? 0 : which::power_reading::package;
  if (const auto watts = read_power(at.power)) {
    out.push_back(measured(source::tegra, metric_id::power_watts, instance, *watts));
  } else {
    miss(metric_id::power_watts, instance, unreadable(EIO, at.power.folder.view(), "its rail"));
  }
}

}  // namespace hmn::tegra
