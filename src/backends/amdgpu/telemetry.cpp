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
  Field field;
  ValueFile file;
  std::optional<double> Telemetry::*member;
};
constexpr RealField device_reals[] = {
    {gpu_busy_percent, {{}, {}, "gpu_busy_percent", Unit::percent}, &Telemetry::gpu_busy_percent},
    {memory_busy_percent,
     {{}, {}, "mem_busy_percent", Unit::percent},
     &Telemetry::memory_busy_percent},
};
// Before Linux 6.7 only one of power1_average and power1_input exists, so the average comes first.
constexpr RealField hwmon_reals[] = {
    {temperature_celsius,
     {"temp", "edge", "_input", Unit::celsius},
     &Telemetry::temperature_celsius},
    {hotspot_celsius, {"temp", "junction", "_input", Unit::celsius}, &Telemetry::hotspot_celsius},
    {memory_celsius, {"temp", "mem", "_input", Unit::celsius}, &Telemetry::memory_celsius},
    {power_watts, {{}, {}, "power1_average", Unit::watts}, &Telemetry::power_watts},
    {power_watts, {{}, {}, "power1_input", Unit::watts}, &Telemetry::power_watts},
    {power_limit_watts, {{}, {}, "power1_cap", Unit::watts}, &Telemetry::power_limit_watts},
};

struct IntegerField {
  Field field;
  ValueFile file;
  std::optional<std::uint32_t> Telemetry::*member;
};
constexpr IntegerField hwmon_integers[] = {
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

std::optional<double> read_field(std::string_view folder, Field field, const ValueFile& file,
                                 Sensors& sensors) {
  if (folder.empty() || !sensors.wants(field)) return std::nullopt;
  return read_value(folder, file,
                    [&](const Failure& failure) { sensors.report_missing(field, failure); });
}

void read_reals(std::string_view folder, std::span<const RealField> fields, Sensors& sensors,
                Telemetry& out) {
  for (const RealField& entry : fields) {
    if (out.*entry.member > 0.0) continue;
    if (const auto value = read_field(folder, entry.field, entry.file, sensors))
      sensors.set(entry.field, out.*entry.member, *value);
  }
}

void read_clock_level(const drm::Card& card, std::string_view file, Field field, Sensors& sensors,
                      std::optional<std::uint32_t>& out) {
  if (out || !sensors.wants(field)) return;
  const ClockLevels levels = read_clock_levels(card.folder.view(), file);
  if (levels.current_mhz) return sensors.set(field, out, *levels.current_mhz);
  if (levels.error != ENOENT)
    sensors.report_missing(field, make_no_clock_failure(levels, card.folder.view(), file));
}

void read_integers(std::string_view hwmon, Sensors& sensors, Telemetry& out) {
  for (const IntegerField& entry : hwmon_integers) {
    const auto value = drm::round_uint32(read_field(hwmon, entry.field, entry.file, sensors));
    if (value) sensors.set(entry.field, out.*entry.member, *value);
  }
}

// Bits of sensors that are far below the limit at which they throttle. The firmware of RDNA 3 and 4
// sets the hotspot's nearly always, also when idle. Nothing if a sensor's temperature or limit is
// unknown: its bit then proves nothing.
std::optional<std::uint64_t> find_cool_bits(std::uint64_t status, std::string_view hwmon,
                                            Sensors& sensors) {
  static constexpr std::string_view labels[] = {"edge", "junction", "mem"};
  constexpr double far_below = 10;  // C
  std::uint64_t bits = 0;
  for (std::size_t i = 0; i < hot_bits.size(); ++i) {
    if ((status & hot_bits[i]) == 0) continue;
    const auto input = find_labelled_input(hwmon, "temp", labels[i]);
    const auto celsius = [&](std::string_view end) -> std::optional<double> {
      std::array<char, 24> name;
      const std::string_view file = compose_into(name, {input.value, end});
      const auto number = sysfs::read_signed(hwmon, file);
      if (number && number.value != 0) return drm::scale_value(Unit::celsius, number.value);
      sensors.report_missing(
          telemetry_field::throttle,
          make_unread_failure(number ? sysfs::no_number : number.error, hwmon, file));
      return std::nullopt;
    };
    const auto limit = celsius("_crit");
    const auto temperature = limit ? celsius("_input") : std::nullopt;
    if (!temperature) return std::nullopt;
    if (*temperature + far_below < *limit) bits |= hot_bits[i];
  }
  return bits;
}

void read_throttle(const drm::Card& card, std::string_view hwmon, Sensors& sensors,
                   std::uint32_t& format_without_throttle, Telemetry& out) {
  constexpr Field throttle = telemetry_field::throttle;
  if (!sensors.wants(throttle)) return;
  const std::string_view folder = card.folder.view();
  if (format_without_throttle == 0) {
    const auto metrics = read_gpu_metrics(folder);
    if (metrics && metrics.value.throttle) {
      const auto cool_bits = find_cool_bits(*metrics.value.throttle, hwmon, sensors);
      if (!cool_bits) return;
      return sensors.set(throttle, out.throttle,
                         convert_throttle(*metrics.value.throttle & ~*cool_bits));
    }
    if (!metrics && metrics.error == ENOENT) return;
    if (!metrics)
      return sensors.report_missing(throttle, make_unread_metrics_failure(metrics.error, folder));
    format_without_throttle = metrics.value.format * 256U + metrics.value.content;
  }
  sensors.report_missing(
      throttle,
      fail(Status::unsupported,
           {folder, "/gpu_metrics (format ", format_without_throttle / 256, ".",
            format_without_throttle % 256, ") does not report why the card throttles now"}));
}

bool is_device(std::string_view folder, std::uint64_t device) {
  const auto vendor_id = sysfs::read_hex(folder, "vendor");
  const auto device_id = sysfs::read_hex(folder, "device");
  return vendor_id && device_id && vendor_id.value == vendor::amd && device_id.value == device;
}

std::string_view find_parent(std::string_view folder) noexcept {
  return folder.substr(0, folder.rfind('/'));
}

void drop_zero_power(drm::Visit& visit, Field field, std::optional<double>& watts) {
  if (watts != 0.0) return;
  watts.reset();
  visit.diagnose(make_no_power_failure(), subject::telemetry, field);
}

using Id = MetricId;

struct NumberFile {
  Id id;
  std::uint8_t instance;
  ValueFile file;
};
constexpr NumberFile device_files[] = {
    {Id::engine_percent,
     metric_instance::engine::graphics,
     {{}, {}, "gpu_busy_percent", Unit::percent}},
    {Id::engine_percent,
     metric_instance::engine::memory,
     {{}, {}, "mem_busy_percent", Unit::percent}},
    {Id::engine_percent,
     metric_instance::engine::video,
     {{}, {}, "vcn_busy_percent", Unit::percent}},
};
constexpr NumberFile hwmon_files[] = {
    {Id::temperature, metric_instance::sensor::core, {"temp", "edge", "_input", Unit::celsius}},
    {Id::temperature,
     metric_instance::sensor::hotspot,
     {"temp", "junction", "_input", Unit::celsius}},
    {Id::temperature, metric_instance::sensor::memory, {"temp", "mem", "_input", Unit::celsius}},
    {Id::temperature_limit,
     metric_instance::sensor::core,
     {"temp", "edge", "_crit", Unit::celsius}},
    {Id::temperature_limit,
     metric_instance::sensor::hotspot,
     {"temp", "junction", "_crit", Unit::celsius}},
    {Id::temperature_limit,
     metric_instance::sensor::memory,
     {"temp", "mem", "_crit", Unit::celsius}},
    {Id::temperature_shutdown,
     metric_instance::sensor::core,
     {"temp", "edge", "_emergency", Unit::celsius}},
    {Id::temperature_shutdown,
     metric_instance::sensor::hotspot,
     {"temp", "junction", "_emergency", Unit::celsius}},
    {Id::temperature_shutdown,
     metric_instance::sensor::memory,
     {"temp", "mem", "_emergency", Unit::celsius}},
    {Id::power_watts,
     metric_instance::power_reading::average,
     {{}, {}, "power1_average", Unit::watts}},
    {Id::power_watts,
     metric_instance::power_reading::instant,
     {{}, {}, "power1_input", Unit::watts}},
    {Id::power_limit_watts,
     metric_instance::power_limit::current,
     {{}, {}, "power1_cap", Unit::watts}},
    {Id::power_limit_watts,
     metric_instance::power_limit::default_limit,
     {{}, {}, "power1_cap_default", Unit::watts}},
    {Id::power_limit_watts,
     metric_instance::power_limit::min,
     {{}, {}, "power1_cap_min", Unit::watts}},
    {Id::power_limit_watts,
     metric_instance::power_limit::max,
     {{}, {}, "power1_cap_max", Unit::watts}},
    {Id::clock_mhz, metric_instance::clock::core, {"freq", "sclk", "_input", Unit::megahertz}},
    {Id::clock_mhz, metric_instance::clock::memory, {"freq", "mclk", "_input", Unit::megahertz}},
    {Id::fan_rpm, 1, {{}, {}, "fan1_input", Unit::rpm}},
    {Id::fan_percent, 1, {{}, {}, "pwm1", Unit::duty_of_255}},
    {Id::voltage, metric_instance::rail::core, {"in", "vddgfx", "_input", Unit::volts}},
    {Id::voltage, metric_instance::rail::soc, {"in", "vddnb", "_input", Unit::volts}},
    {Id::voltage, metric_instance::rail::board, {"in", "vddboard", "_input", Unit::volts}},
};

struct ClockFile {
  std::uint8_t instance;
  std::string_view file;
};
constexpr ClockFile clocks[] = {
    {metric_instance::clock::core, "pp_dpm_sclk"},  {metric_instance::clock::memory, "pp_dpm_mclk"},
    {metric_instance::clock::soc, "pp_dpm_socclk"}, {metric_instance::clock::fabric, "pp_dpm_fclk"},
    {metric_instance::clock::video, "pp_dpm_vclk"},
};

class MetricReader {
 public:
  MetricReader(drm::Visit& visit, std::vector<Metric>& out) : visit_(visit), out_(out) {}

  void add(Id id, std::uint32_t instance, double value) {
    out_.push_back(make_value_metric(Source::amdgpu, id, instance, value));
  }
  void add_count(Id id, std::uint32_t instance, std::optional<std::uint64_t> count) {
    if (count) out_.push_back(make_count_metric(Source::amdgpu, id, instance, *count));
  }
  [[nodiscard]] bool has(Id id, std::uint32_t instance) const noexcept {
    for (const Metric& metric : out_) {
      if (metric.id == id && metric.instance == instance) return true;
    }
    return false;
  }
  // A missing file is no diagnostic: most cards lack some.
  void report_missing(FieldSet metric, int error, std::string_view folder, std::string_view file) {
    if (error != ENOENT) report_missing(metric, make_unread_failure(error, folder, file));
  }
  void report_missing(FieldSet metric, const Failure& failure) {
    visit_.diagnose(failure, subject::metrics, metric);
  }
  void read(std::string_view folder, std::span<const NumberFile> files) {
    for (const NumberFile& file : files) read(folder, file);
  }

 private:
  void read(std::string_view folder, const NumberFile& number_file) {
    const auto value = read_value(folder, number_file.file, [&](const Failure& failure) {
      report_missing(missing_metric(number_file.id, number_file.instance), failure);
    });
    if (value) add(number_file.id, number_file.instance, *value);
  }

  drm::Visit& visit_;
  std::vector<Metric>& out_;
};

void read_clocks(std::string_view folder, MetricReader& reader) {
  for (const ClockFile& file : clocks) {
    const ClockLevels levels = read_clock_levels(folder, file.file);
    const bool is_known = reader.has(Id::clock_mhz, file.instance);
    if (levels.current_mhz && !is_known) {
      reader.add(Id::clock_mhz, file.instance, *levels.current_mhz);
    } else if (!is_known && levels.error != ENOENT) {
      reader.report_missing(missing_metric(Id::clock_mhz, file.instance),
                            make_no_clock_failure(levels, folder, file.file));
    }
    if (levels.max_mhz) {
      reader.add(Id::clock_limit_mhz, file.instance, *levels.max_mhz);
    } else if (levels.error != 0) {
      reader.report_missing(missing_metric(Id::clock_limit_mhz, file.instance), levels.error,
                            folder, file.file);
    }
  }
}

bool is_zero_power(const Metric& metric) noexcept {
  const bool is_limit =
      metric.id == Id::power_limit_watts && metric.instance != metric_instance::power_limit::min;
  return metric.value == 0.0 && (is_limit || metric.id == Id::power_watts);
}

// An APU's power is that of the whole package.
void name_package_power(std::vector<Metric>& all) {
  std::uint32_t count = 0;
  std::erase_if(all, [&](const Metric& m) { return m.id == Id::power_watts && count++ != 0; });
  for (Metric& m : all) {
    if (m.id == Id::power_watts) m.instance = metric_instance::power_reading::package;
  }
}

void read_errors(std::string_view folder, MetricReader& reader) {
  std::array<char, 256> buffer;
  constexpr std::string_view file = "ras/umc_err_count";
  const auto text = sysfs::read_text(folder, file, buffer);
  const ErrorCounts errors = parse_error_counts(text.value);
  const auto add = [&](Id id, std::optional<std::uint64_t> count) {
    reader.add_count(id, metric_instance::era::since_load, count);
    if (!count)
      reader.report_missing(missing_metric(id, metric_instance::era::since_load),
                            text ? sysfs::no_number : text.error, folder, file);
  };
  add(Id::ecc_corrected, errors.corrected);
  add(Id::ecc_uncorrected, errors.uncorrected);
}

void read_table(std::string_view folder, MetricReader& reader) {
  const auto [table, error] = read_gpu_metrics(folder);
  if (error != 0 && error != ENOENT) {
    for (const Id id : {Id::temperature, Id::engine_percent, Id::energy_joules}) {
      reader.report_missing(missing_metric(id), make_unread_metrics_failure(error, folder));
    }
  }
  if (table.regulator_celsius) {
    reader.add(Id::temperature, metric_instance::sensor::regulator, *table.regulator_celsius);
  }
  if (!reader.has(Id::engine_percent, metric_instance::engine::video)) {
    if (table.media_percent) {
      reader.add(Id::engine_percent, metric_instance::engine::video, *table.media_percent);
    } else if (table.is_media_ambiguous) {
      reader.report_missing(
          missing_metric(Id::engine_percent, metric_instance::engine::video),
          with_reason(Reason::ambiguous,
                      fail(Status::unsupported,
                           "gpu_metrics has percent or hundredths of it for the video "
                           "engines, depending on the firmware")));
    }
  }
  if (table.energy_joules) {
    reader.add(Id::energy_joules, metric_instance::power_reading::package, *table.energy_joules);
  }
}

}  // namespace

Failure make_no_power_failure() {
  return fail(Status::unsupported,
              "0 W: the driver measures no power here; of an MI200, whose halves are GPUs of their "
              "own, it is in the row of the first");
}

std::string find_card_hwmon(const drm::Card& card, int* error) {
  return drm::find_hwmon(card.folder.view(), "amdgpu", error);
}

platform::ErrnoOr<std::string_view> find_labelled_input(std::string_view hwmon,
                                                        std::string_view kind,
                                                        std::string_view label) {
  std::array<char, 32> text, name;
  int failed = 0;
  for (const KnownInput& known : inputs) {
    if (!known.input.starts_with(kind)) continue;
    const auto label_line =
        sysfs::read_line(hwmon, compose_into(name, {known.input, "_label"}), text);
    if (label_line ? label_line.value == label
                   : known.is_unlabelled && label_line.error == ENOENT &&
                         (label == "edge" || label == "sclk" || label == "vddgfx")) {
      return {known.input, 0};
    }
    if (!label_line && label_line.error != ENOENT) failed = label_line.error;
  }
  return {{}, failed};
}

// 1002:1478 and 1002:1479 are the ports of the switch on cards since Vega; the card's own link is
// inside the package.
std::string_view slot_folder(const drm::Card& card, std::string_view sys_root) {
  const std::string_view card_folder = card.folder.view();
  const std::string_view downstream = find_parent(card_folder);
  const std::string_view upstream = find_parent(downstream);
  const bool is_below = upstream.size() > sys_root.size();
  return is_below && is_device(downstream, 0x1479) && is_device(upstream, 0x1478) ? upstream
                                                                                  : card_folder;
}

Result<void> read_telemetry(drm::Visit& visit, FieldSet fields,
                            std::uint32_t& format_without_throttle, Telemetry& out) {
  Sensors sensors(visit, Source::amdgpu, fields);
  const drm::Card& card = visit.card();
  out.source = Source::amdgpu;
  out.sources = source_bit(Source::amdgpu);
  int error = 0;
  const std::string hwmon = find_card_hwmon(card, &error);
  if (error != 0)
    sensors.set_default_failure(make_unread_failure(error, card.folder.view(), "hwmon"));
  read_reals(card.folder.view(), device_reals, sensors, out);
  read_reals(hwmon, hwmon_reals, sensors, out);
  drop_zero_power(visit, power_watts, out.power_watts);
  drop_zero_power(visit, power_limit_watts, out.power_limit_watts);
  read_integers(hwmon, sensors, out);
  read_clock_level(card, "pp_dpm_sclk", core_clock_mhz, sensors, out.core_clock_mhz);
  read_clock_level(card, "pp_dpm_mclk", memory_clock_mhz, sensors, out.memory_clock_mhz);
  drm::read_pcie_link(slot_folder(card, visit.sys_root()), sensors, out);
  read_throttle(card, hwmon, sensors, format_without_throttle, out);
  return sensors.finish();
}

void read_metrics(drm::Visit& visit, DeviceForm form, bool include_slow, std::vector<Metric>& out) {
  MetricReader reader(visit, out);
  const std::string_view folder = visit.card().folder.view();
  int error = 0;
  const std::string hwmon = find_card_hwmon(visit.card(), &error);
  if (error != 0) reader.report_missing({}, error, folder, "hwmon");
  reader.read(folder, device_files);
  if (!hwmon.empty()) reader.read(hwmon, hwmon_files);
  if (std::ranges::any_of(out, is_zero_power))
    reader.report_missing(missing_metric(Id::power_watts), make_no_power_failure());
  std::erase_if(out, is_zero_power);
  read_clocks(folder, reader);
  if (form == DeviceForm::integrated) name_package_power(out);
  const auto replays = sysfs::read_number(folder, "pcie_replay_count");
  if (replays) {
    reader.add_count(Id::pcie_replays, 0, replays.value);
  } else {
    reader.report_missing(missing_metric(Id::pcie_replays, 0), replays.error, folder,
                          "pcie_replay_count");
  }
  if (!include_slow) return;
  read_errors(folder, reader);
  read_table(folder, reader);
}

}  // namespace hmn::amdgpu
