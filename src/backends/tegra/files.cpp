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
bool take_client(std::string_view line, NvmapClients& out) {
  const auto size = size_of(take_last_word(line));
  const auto pid = scan::number<std::uint32_t>(take_last_word(line));
  if (!size || !pid || scan::trim(line).empty()) return false;
  // Pid 0 is the kernel.
  if (*pid != 0) out.all.push_back({*pid, *size});
  return true;
}

using sysfs::PathText;
using sysfs::read_line;
using Word = std::array<char, 128>;

// Boards TX1, Nano, TX2, AGX Xavier.
constexpr const char* own = "VDD_GPU POM_5V_GPU VDD_SYS_GPU GPU";
// Boards AGX Orin; Xavier NX, Orin NX and Nano.
constexpr const char* shared = "VDD_GPU_SOC VDD_CPU_GPU_CV";

void look_at(std::string_view folder, Rail& best, bool& is_sure) {
  for (std::uint32_t channel = 1; channel <= 3; ++channel) {
    Word name, buffer;
    const auto label = read_line(folder, compose_in(name, {"in", channel, "_label"}), buffer);
    if (may_pass(label.error)) is_sure = false;
    const Feeds what = rail_of(label.value);
    const bool is_better = what == Feeds::gpu_alone || best.what == Feeds::nothing_of_it;
    if (what == Feeds::nothing_of_it || !is_better) continue;
    best = {what, Text<512>(folder), channel, Text<32>(label.value)};
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
  Word buffer;
  const std::string_view chip = read_line(folder, "of_node/name", buffer).value;
  return (scan::has_part(chips, ' ', chip) || (chip == "gpu" && is_nvidias(folder))) &&
         sysfs::read_link_name(folder, "driver").view() != "nouveau";
}

namespace field = telemetry_field;

// The firmware reports -256 degrees for sensors without power.
constexpr std::int64_t coldest = -100'000;

class Collector {
 public:
  Collector(FieldSet wanted, Reading& r) : wanted_(wanted), left_(wanted), r_(r) {}

  [[nodiscard]] bool wants(FieldSet f) const noexcept { return (wanted_ & f) != 0; }
  void found(FieldSet f) noexcept { left_ &= ~f; }
  void refuse(const Failure& why, FieldSet f) {
    f &= left_;
    left_ &= ~f;
    refused_ |= f;
    if (refused_ == wanted_) last_ = why;
    if (f != 0) diagnose(r_, why, subject::telemetry, f);
  }
  Result<void> finish(bool is_sure) {
    if (refused_ == wanted_) return std::move(last_);
    if (left_ == 0) return {};
    const Failure why = is_sure
                            ? fail(Status::unsupported, "not supported by this board")
                            : fail(Status::backend, "not all sensors of this board could be read");
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
  Failure last_;
  Reading& r_;
};

void take_load(const Places& at, Collector& c, hmn::Telemetry& out) {
  constexpr std::int64_t most = 1000;
  const auto permille = c.take(at.of.folder.view(), "load", field::gpu_busy_percent);
  if (!permille || *permille < 0 || *permille > most) return;
  out.gpu_busy_percent = static_cast<double>(*permille) / 10;
  c.found(field::gpu_busy_percent);
}

void take_clock(const Places& at, Collector& c, hmn::Telemetry& out) {
  const auto hertz = c.take(at.of.devfreq.view(), "cur_freq", field::core_clock_mhz);
  if (!hertz || *hertz < 0) return;
  out.core_clock_mhz = static_cast<std::uint32_t>((*hertz + 500'000) / 1'000'000);
  c.found(field::core_clock_mhz);
}

void take_temperature(const Places& at, Collector& c, hmn::Telemetry& out) {
  const auto milli = c.take(at.thermometer.view(), "temp", field::temperature_celsius);
  if (!milli) return;
  if (*milli < coldest)
    return c.refuse(unreadable(EAGAIN, at.thermometer.view(), "temp"), field::temperature_celsius);
  out.temperature_celsius = from_milli.of(static_cast<double>(*milli));
  c.found(field::temperature_celsius);
}

void take_power(const Places& at, Collector& c, hmn::Telemetry& out) {
  if (!c.wants(field::power_watts) || at.power.what == Feeds::nothing_of_it) return;
  if (at.power.what == Feeds::gpu_and_others) {
    return c.refuse(fail(Status::unsupported, {"the rail ", at.power.label.view(),
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

platform::ErrnoOr<std::int64_t> read_number(std::string_view folder, std::string_view name) {
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

void diagnose(Reading& r, const Failure& why, std::uint32_t about, FieldSet field) {
  if (!r.wants_diagnostics()) return;
  Diagnostic d;
  d.why = why;
  d.about = about;
  d.field = field;
  d.device = 0;
  r.diagnose(d);
}

Failure unreadable(int error, std::string_view folder, std::string_view name) {
  const bool refused = is_refused(error);
  return fail(
      refused ? Status::permission : Status::backend,
      {folder, "/", name,
       refused ? ": the system refuses to let this user read it" : ": it gives no number now"},
      error);
}

NvmapClients parse_nvmap(std::string_view text) {
  NvmapClients out;
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

Feeds rail_of(std::string_view label) noexcept {
  if (scan::has_part(own, ' ', label)) return Feeds::gpu_alone;
  return scan::has_part(shared, ' ', label) ? Feeds::gpu_and_others : Feeds::nothing_of_it;
}

Rail find_rail(std::string_view sys_root, bool& is_sure) {
  Rail best;
  const PathText sensors{sys_root, "/class/hwmon"};
  const int error = platform::for_each_entry(sensors.c_str(), [&](std::string_view name) {
    const PathText folder{sensors.view(), "/", name};
    Word buffer;
    const auto chip = read_line(folder.view(), "name", buffer);
    if (may_pass(chip.error)) is_sure = false;
    if (chip.value == "ina3221") look_at(folder.view(), best, is_sure);
    return best.what != Feeds::gpu_alone;
  });
  if (may_pass(error)) is_sure = false;
  return best;
}

std::optional<double> read_power(const Rail& r) {
  if (r.what == Feeds::nothing_of_it) return std::nullopt;
  Word name;
  const auto millivolts =
      read_number(r.folder.view(), compose_in(name, {"in", r.channel, "_input"}));
  const auto milliamperes =
      read_number(r.folder.view(), compose_in(name, {"curr", r.channel, "_input"}));
  if (!millivolts || !milliamperes || millivolts.value < 0 || milliamperes.value < 0) return {};
  return from_micro.of(static_cast<double>(millivolts.value) *
                       static_cast<double>(milliamperes.value));
}

Gpu find_gpu(std::string_view sys_root) {
  Gpu found;
  const PathText by_clock{sys_root, "/class/devfreq"};
  (void)platform::for_each_entry(by_clock.c_str(), [&](std::string_view name) {
    const PathText devfreq{by_clock.view(), "/", name};
    const PathText folder{devfreq.view(), "/device"};
    if (is_one(folder.view())) {
      found.folder.assign(folder.view());
      found.devfreq.assign(devfreq.view());
    }
    return found.folder.empty();
  });
  // Its name before L4T 32.
  for (const char* const place : {"/devices/gpu.0", "/devices/platform/gpu.0"}) {
    if (!found.folder.empty()) break;
    const PathText folder{sys_root, place};
    if (!is_one(folder.view())) continue;
    found.folder.assign(folder.view());
    const PathText all{folder.view(), "/devfreq"};
    (void)platform::for_each_entry(all.c_str(), [&](std::string_view name) {
      found.devfreq.assign(PathText{all.view(), "/", name}.view());
      return false;
    });
  }
  return found;
}

int read_board_name(std::string_view proc_root, std::string_view sys_root, Text<256>& out) {
  std::array<char, 512> buffer;
  auto name = read_line(proc_root, "device-tree/model", buffer);
  if (!name) name = read_line(sys_root, "firmware/devicetree/base/model", buffer);
  out.assign(name.value);
  return name.error;
}

Text<512> find_thermometer(std::string_view sys_root, bool& is_sure) {
  const PathText zones{sys_root, "/class/thermal"};
  Text<512> found;
  const int error = platform::for_each_entry(zones.c_str(), [&](std::string_view name) {
    const PathText folder{zones.view(), "/", name};
    Word buffer;
    const auto type = read_line(folder.view(), "type", buffer);
    if (may_pass(type.error)) is_sure = false;
    if (is_of_gpu(type.value)) found.assign(folder.view());
    return found.empty();
  });
  if (may_pass(error)) is_sure = false;
  return found;
}

Result<void> read_sensors(const Places& at, FieldSet fields, hmn::Telemetry& out, Reading& r) {
  out.from = Source::tegra;
  out.sources = bit_of(Source::tegra);
  Collector c(fields, r);
  take_load(at, c, out);
  take_clock(at, c, out);
  take_temperature(at, c, out);
  take_power(at, c, out);
  return c.finish(at.is_sure);
}

void add_metrics(const Places& at, std::vector<Metric>& out, Reading& r) {
  const auto miss = [&r](MetricId id, std::uint32_t instance, const Failure& why) {
    diagnose(r, why, subject::metrics, missing_metric(id, instance));
  };
  const auto highest = read_number(at.of.devfreq.view(), "max_freq");
  if (highest && highest.value > 0) {
    out.push_back(measured(Source::tegra, MetricId::clock_limit_mhz, which::clock::core,
                           from_micro.of(static_cast<double>(highest.value))));
  } else if (may_pass(highest.error)) {
    miss(MetricId::clock_limit_mhz, which::clock::core,
         unreadable(highest.error, at.of.devfreq.view(), "max_freq"));
  }
  const auto add = [&](std::string_view folder, std::string_view file, MetricId id,
                       std::uint32_t instance, Scale unit, double most, double least = 0) {
    const auto number = read_number(folder, file);
    const double value = unit.of(static_cast<double>(number.value));
    if (folder.empty() || number.error == ENOENT) return;
    if (!number || value < least || value > most) {
      return miss(id, instance, unreadable(number ? EINVAL : number.error, folder, file));
    }
    out.push_back(measured(Source::tegra, id, instance, value));
  };
  add(at.of.folder.view(), "load", MetricId::engine_percent, which::engine::graphics, {1, 10}, 100);
  add(at.of.devfreq.view(), "cur_freq", MetricId::clock_mhz, which::clock::core, from_micro, 1e5);
  add(at.thermometer.view(), "temp", MetricId::temperature, which::sensor::core, from_milli, 250,
      -100);
  if (at.power.what == Feeds::nothing_of_it) return;
  const bool is_own = at.power.what == Feeds::gpu_alone;
  const std::uint32_t instance = is_own ? 0 : which::power_reading::package;
  if (const auto watts = read_power(at.power)) {
    out.push_back(measured(Source::tegra, MetricId::power_watts, instance, *watts));
  } else {
    miss(MetricId::power_watts, instance, unreadable(EIO, at.power.folder.view(), "its rail"));
  }
}

}  // namespace hmn::tegra
