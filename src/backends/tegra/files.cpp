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
std::optional<std::uint64_t> parse_size(std::string_view word) noexcept {
  if (!word.ends_with('K')) return std::nullopt;
  word.remove_suffix(1);
  const auto kibibytes = scan::parse_number(word);
  return kibibytes ? scan::checked_multiply(*kibibytes, 1024) : std::nullopt;
}

// Names may contain blanks, but size and pid come last.
bool parse_client(std::string_view line, NvmapClients& clients) {
  const auto size = parse_size(take_last_word(line));
  const auto pid = scan::parse_number<std::uint32_t>(take_last_word(line));
  if (!size || !pid || scan::trim(line).empty()) return false;
  // Pid 0 is the kernel.
  if (*pid != 0) clients.all.push_back({*pid, *size});
  return true;
}

using sysfs::PathText;
using sysfs::read_line;
using Word = std::array<char, 128>;

// Boards TX1, Nano, TX2, AGX Xavier.
constexpr const char* gpu_rails = "VDD_GPU POM_5V_GPU VDD_SYS_GPU GPU";
// Boards AGX Orin; Xavier NX, Orin NX and Nano.
constexpr const char* shared_rails = "VDD_GPU_SOC VDD_CPU_GPU_CV";

void check_channels(std::string_view folder, Rail& best, bool& is_complete) {
  for (std::uint32_t channel = 1; channel <= 3; ++channel) {
    Word name, buffer;
    const auto label = read_line(folder, compose_into(name, {"in", channel, "_label"}), buffer);
    if (is_temporary(label.error)) is_complete = false;
    const RailLoad load = classify_rail(label.value);
    const bool is_better = load == RailLoad::gpu_alone || best.load == RailLoad::none;
    if (load == RailLoad::none || !is_better) continue;
    best = {load, Text<512>(folder), channel, Text<32>(label.value)};
  }
}

// Nodes of NVIDIA's GPUs; other vendors also use "gpu".
constexpr const char* chips = "gk20a gm20b gp10b gv11b ga10b gb10b";

// "compatible" is a list of names.
bool is_nvidia(std::string_view folder) {
  std::array<char, 512> buffer;
  return has_text_with_prefix(sysfs::read_text(folder, "of_node/compatible", buffer).value,
                              "nvidia,");
}

bool is_tegra_gpu(std::string_view folder) {
  Word buffer;
  const std::string_view chip = read_line(folder, "of_node/name", buffer).value;
  return (scan::has_part(chips, ' ', chip) || (chip == "gpu" && is_nvidia(folder))) &&
         sysfs::read_link_name(folder, "driver").view() != "nouveau";
}

namespace field = telemetry_field;

// The firmware reports -256 degrees for sensors without power.
constexpr std::int64_t coldest = -100'000;

// Tracks which wanted telemetry fields were found, refused or are still missing.
class Collector {
 public:
  Collector(FieldSet fields, Reading& reading)
      : fields_(fields), left_(fields), reading_(reading) {}

  [[nodiscard]] bool wants(FieldSet requested) const noexcept { return (fields_ & requested) != 0; }
  void mark_found(FieldSet fields) noexcept { left_ &= ~fields; }
  void refuse(const Failure& failure, FieldSet fields) {
    fields &= left_;
    left_ &= ~fields;
    refused_ |= fields;
    if (refused_ == fields_) last_failure_ = failure;
    if (fields != 0) diagnose(reading_, failure, subject::telemetry, fields);
  }
  Result<void> finish(bool is_complete) {
    if (refused_ == fields_) return std::move(last_failure_);
    if (left_ == 0) return {};
    const Failure failure =
        is_complete ? fail(Status::unsupported, "not supported by this board")
                    : fail(Status::backend, "not all sensors of this board could be read");
    if ((left_ | refused_) == fields_) return failure;
    diagnose(reading_, failure, subject::telemetry, left_);
    return {};
  }
  // Reads a value, or reports why it is missing.
  std::optional<std::int64_t> read(std::string_view folder, std::string_view name,
                                   FieldSet requested) {
    if (!wants(requested) || folder.empty()) return {};
    const auto number = read_number(folder, name);
    if (number) return number.value;
    if (number.error != ENOENT) refuse(make_read_failure(number.error, folder, name), requested);
    return {};
  }

 private:
  FieldSet fields_;
  FieldSet left_;
  FieldSet refused_ = 0;
  Failure last_failure_;
  Reading& reading_;
};

void read_load(const SensorFiles& files, Collector& collector, hmn::Telemetry& out) {
  constexpr std::int64_t max_permille = 1000;
  const auto permille = collector.read(files.gpu.folder.view(), "load", field::gpu_busy_percent);
  if (!permille || *permille < 0 || *permille > max_permille) return;
  out.gpu_busy_percent = static_cast<double>(*permille) / 10;
  collector.mark_found(field::gpu_busy_percent);
}

void read_clock(const SensorFiles& files, Collector& collector, hmn::Telemetry& out) {
  const auto hertz = collector.read(files.gpu.devfreq.view(), "cur_freq", field::core_clock_mhz);
  if (!hertz || *hertz < 0) return;
  out.core_clock_mhz = static_cast<std::uint32_t>((*hertz + 500'000) / 1'000'000);
  collector.mark_found(field::core_clock_mhz);
}

void read_temperature(const SensorFiles& files, Collector& collector, hmn::Telemetry& out) {
  const auto millidegrees =
      collector.read(files.thermometer.view(), "temp", field::temperature_celsius);
  if (!millidegrees) return;
  if (*millidegrees < coldest)
    return collector.refuse(make_read_failure(EAGAIN, files.thermometer.view(), "temp"),
                            field::temperature_celsius);
  out.temperature_celsius = from_milli.apply(static_cast<double>(*millidegrees));
  collector.mark_found(field::temperature_celsius);
}

void read_rail_power(const SensorFiles& files, Collector& collector, hmn::Telemetry& out) {
  if (!collector.wants(field::power_watts) || files.rail.load == RailLoad::none) return;
  if (files.rail.load == RailLoad::gpu_and_others) {
    return collector.refuse(fail(Status::unsupported, {"the rail ", files.rail.label.view(),
                                                       " feeds other parts than the GPU too"}),
                            field::power_watts);
  }
  out.power_watts = read_power(files.rail);
  if (out.power_watts) return collector.mark_found(field::power_watts);
  collector.refuse(make_read_failure(EIO, files.rail.folder.view(), "its rail"),
                   field::power_watts);
}

bool is_gpu_zone(std::string_view zone) noexcept {
  return scan::has_part("GPU-therm gpu-thermal gpu-therm", ' ', zone);
}

}  // namespace

platform::ErrnoOr<std::int64_t> read_number(std::string_view folder, std::string_view name) {
  auto number = sysfs::read_signed(folder, name);
  if (number.error == sysfs::no_number) number.error = EINVAL;
  return number;
}

bool has_text_with_prefix(std::string_view list, std::string_view prefix) noexcept {
  while (!list.empty()) {
    if (scan::take_until(list, '\0').starts_with(prefix)) return true;
  }
  return false;
}

bool is_temporary(int error) noexcept {
  return error != 0 && error != ENOENT && error != EINVAL && !is_refused(error);
}

void diagnose(Reading& reading, const Failure& failure, std::uint32_t subject, FieldSet field) {
  if (!reading.wants_diagnostics()) return;
  Diagnostic diagnostic;
  diagnostic.failure = failure;
  diagnostic.subject = subject;
  diagnostic.field = field;
  diagnostic.device = 0;
  reading.diagnose(diagnostic);
}

Failure make_read_failure(int error, std::string_view folder, std::string_view name) {
  const bool refused = is_refused(error);
  return fail(
      refused ? Status::permission : Status::backend,
      {folder, "/", name,
       refused ? ": the system refuses to let this user read it" : ": it gives no number now"},
      error);
}

NvmapClients parse_nvmap(std::string_view text) {
  NvmapClients clients;
  while (!text.empty()) {
    std::string_view line = scan::trim(scan::take_line(text));
    if (line.empty() || line.starts_with("CLIENT")) continue;
    std::string_view rest = line;
    if (scan::take_word(rest) == "total") {
      clients.total = parse_size(scan::trim(rest));
      clients.is_malformed = clients.is_malformed || !clients.total;
    } else if (!parse_client(line, clients)) {
      clients.is_malformed = true;
    }
  }
  return clients;
}

RailLoad classify_rail(std::string_view label) noexcept {
  if (scan::has_part(gpu_rails, ' ', label)) return RailLoad::gpu_alone;
  return scan::has_part(shared_rails, ' ', label) ? RailLoad::gpu_and_others : RailLoad::none;
}

Rail find_rail(std::string_view sys_root, bool& is_complete) {
  Rail best;
  const PathText sensors{sys_root, "/class/hwmon"};
  const int error = platform::for_each_entry(sensors.c_str(), [&](std::string_view name) {
    const PathText folder{sensors.view(), "/", name};
    Word buffer;
    const auto chip = read_line(folder.view(), "name", buffer);
    if (is_temporary(chip.error)) is_complete = false;
    if (chip.value == "ina3221") check_channels(folder.view(), best, is_complete);
    return best.load != RailLoad::gpu_alone;
  });
  if (is_temporary(error)) is_complete = false;
  return best;
}

std::optional<double> read_power(const Rail& rail) {
  if (rail.load == RailLoad::none) return std::nullopt;
  Word name;
  const auto millivolts =
      read_number(rail.folder.view(), compose_into(name, {"in", rail.channel, "_input"}));
  const auto milliamperes =
      read_number(rail.folder.view(), compose_into(name, {"curr", rail.channel, "_input"}));
  if (!millivolts || !milliamperes || millivolts.value < 0 || milliamperes.value < 0) return {};
  return from_micro.apply(static_cast<double>(millivolts.value) *
                          static_cast<double>(milliamperes.value));
}

Gpu find_gpu(std::string_view sys_root) {
  Gpu gpu;
  const PathText devfreq_root{sys_root, "/class/devfreq"};
  (void)platform::for_each_entry(devfreq_root.c_str(), [&](std::string_view name) {
    const PathText devfreq{devfreq_root.view(), "/", name};
    const PathText folder{devfreq.view(), "/device"};
    if (is_tegra_gpu(folder.view())) {
      gpu.folder.assign(folder.view());
      gpu.devfreq.assign(devfreq.view());
    }
    return gpu.folder.empty();
  });
  // Its name before L4T 32.
  for (const char* const path : {"/devices/gpu.0", "/devices/platform/gpu.0"}) {
    if (!gpu.folder.empty()) break;
    const PathText folder{sys_root, path};
    if (!is_tegra_gpu(folder.view())) continue;
    gpu.folder.assign(folder.view());
    const PathText devfreq_folder{folder.view(), "/devfreq"};
    (void)platform::for_each_entry(devfreq_folder.c_str(), [&](std::string_view name) {
      gpu.devfreq.assign(PathText{devfreq_folder.view(), "/", name}.view());
      return false;
    });
  }
  return gpu;
}

int read_board_name(std::string_view proc_root, std::string_view sys_root, Text<256>& out) {
  std::array<char, 512> buffer;
  auto name = read_line(proc_root, "device-tree/model", buffer);
  if (!name) name = read_line(sys_root, "firmware/devicetree/base/model", buffer);
  out.assign(name.value);
  return name.error;
}

Text<512> find_thermometer(std::string_view sys_root, bool& is_complete) {
  const PathText zones{sys_root, "/class/thermal"};
  Text<512> zone;
  const int error = platform::for_each_entry(zones.c_str(), [&](std::string_view name) {
    const PathText folder{zones.view(), "/", name};
    Word buffer;
    const auto type = read_line(folder.view(), "type", buffer);
    if (is_temporary(type.error)) is_complete = false;
    if (is_gpu_zone(type.value)) zone.assign(folder.view());
    return zone.empty();
  });
  if (is_temporary(error)) is_complete = false;
  return zone;
}

Result<void> read_sensors(const SensorFiles& files, FieldSet fields, hmn::Telemetry& out,
                          Reading& reading) {
  out.source = Source::tegra;
  out.sources = source_bit(Source::tegra);
  Collector collector(fields, reading);
  read_load(files, collector, out);
  read_clock(files, collector, out);
  read_temperature(files, collector, out);
  read_rail_power(files, collector, out);
  return collector.finish(files.is_complete);
}

void add_metrics(const SensorFiles& files, std::vector<Metric>& out, Reading& reading) {
  const auto report_missing = [&reading](MetricId id, std::uint32_t instance,
                                         const Failure& failure) {
    diagnose(reading, failure, subject::metrics, missing_metric(id, instance));
  };
  const auto highest = read_number(files.gpu.devfreq.view(), "max_freq");
  if (highest && highest.value > 0) {
    out.push_back(make_value_metric(Source::tegra, MetricId::clock_limit_mhz,
                                    metric_instance::clock::core,
                                    from_micro.apply(static_cast<double>(highest.value))));
  } else if (is_temporary(highest.error)) {
    report_missing(MetricId::clock_limit_mhz, metric_instance::clock::core,
                   make_read_failure(highest.error, files.gpu.devfreq.view(), "max_freq"));
  }
  const auto add = [&](std::string_view folder, std::string_view file, MetricId id,
                       std::uint32_t instance, Scale unit, double max_value, double min_value = 0) {
    const auto number = read_number(folder, file);
    const double value = unit.apply(static_cast<double>(number.value));
    if (folder.empty() || number.error == ENOENT) return;
    if (!number || value < min_value || value > max_value) {
      return report_missing(id, instance,
                            make_read_failure(number ? EINVAL : number.error, folder, file));
    }
    out.push_back(make_value_metric(Source::tegra, id, instance, value));
  };
  add(files.gpu.folder.view(), "load", MetricId::engine_percent, metric_instance::engine::graphics,
      {1, 10}, 100);
  add(files.gpu.devfreq.view(), "cur_freq", MetricId::clock_mhz, metric_instance::clock::core,
      from_micro, 1e5);
  add(files.thermometer.view(), "temp", MetricId::temperature, metric_instance::sensor::core,
      from_milli, 250, -100);
  if (files.rail.load == RailLoad::none) return;
  const bool is_own = files.rail.load == RailLoad::gpu_alone;
  const std::uint32_t instance = is_own ? 0 : metric_instance::power_reading::package;
  if (const auto watts = read_power(files.rail)) {
    out.push_back(make_value_metric(Source::tegra, MetricId::power_watts, instance, *watts));
  } else {
    report_missing(MetricId::power_watts, instance,
                   make_read_failure(EIO, files.rail.folder.view(), "its rail"));
  }
}

}  // namespace hmn::tegra
