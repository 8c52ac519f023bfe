// SPDX-License-Identifier: MIT OR Apache-2.0
#include "backends/drm/sensors.hpp"

#include <algorithm>
#include <array>
#include <cerrno>
#include <optional>

#include "backends/shared/sysfs/attribute.hpp"
#include "model/failure.hpp"
#include "model/scale.hpp"
#include "model/scan.hpp"
#include "platform/file.hpp"

namespace hmn::drm {
namespace {

// In the order of `unit`.
constexpr Scale scales[] = {unscaled, from_milli, from_micro, from_duty};

// Parses the number in "temp2_input".
std::optional<std::uint32_t> parse_input_number(std::string_view file, std::string_view kind) {
  constexpr std::string_view suffix = "_input";
  if (!file.starts_with(kind) || !file.ends_with(suffix)) return std::nullopt;
  if (file.size() < kind.size() + suffix.size()) return std::nullopt;
  file.remove_prefix(kind.size());
  file.remove_suffix(suffix.size());
  return scan::parse_number<std::uint32_t>(file);
}

bool has_label(std::string_view hwmon, std::string_view input, std::string_view label) {
  std::array<char, 64> buffer;
  const auto label_line = sysfs::read_line(hwmon, compose({input, "_label"}), buffer);
  return label_line ? !label.empty() && label_line.value == label : label.empty();
}

constexpr const char* speed_file = "current_link_speed";
constexpr const char* width_file = "current_link_width";
// In the order of generations, the first of which is 1.
constexpr std::string_view speeds[] = {"2.5", "5.0", "8.0", "16.0", "32.0", "64.0"};

}  // namespace

double scale_value(Unit unit, std::int64_t value) noexcept {
  return scales[static_cast<std::size_t>(unit)].apply(static_cast<double>(value));
}

std::string find_hwmon(std::string_view device_folder, std::string_view name, int* error) {
  const std::string folder = compose({device_folder, "/hwmon"});
  std::string path;
  int last_error = 0;
  const int list_error = platform::for_each_entry(folder.c_str(), [&](std::string_view entry) {
    if (!entry.starts_with("hwmon")) return true;
    std::string candidate = compose({folder, "/", entry});
    std::array<char, 64> buffer;
    const auto chip_name = sysfs::read_line(candidate, "name", buffer);
    if (!chip_name && chip_name.error != ENOENT) last_error = chip_name.error;
    if (!name.empty() && (!chip_name || chip_name.value != name)) return true;
    path = std::move(candidate);
    return false;
  });
  if (list_error != 0 && list_error != ENOENT) last_error = list_error;
  if (error != nullptr) *error = path.empty() ? last_error : 0;
  return path;
}

std::string find_input(std::string_view hwmon, std::string_view kind, std::string_view label) {
  std::optional<std::uint32_t> lowest;
  (void)platform::for_each_entry(std::string(hwmon).c_str(), [&](std::string_view file) {
    const auto number = parse_input_number(file, kind);
    if (!number || (lowest && *lowest < *number)) return true;
    if (has_label(hwmon, compose({kind, *number}), label)) lowest = number;
    return true;
  });
  return lowest ? compose({kind, *lowest}) : std::string();
}

void Sensors::read(std::string_view folder, std::initializer_list<std::string_view> files,
                   Field field, Unit unit, std::optional<double>& out) {
  if (!wants(field) || folder.empty()) return;
  std::optional<double> first;
  for (const std::string_view file : files) {
    const auto number = sysfs::read_signed(folder, file);
    if (!number) {
      report_unreadable(field, number.error, folder, file);
    } else if (number.value > 0 || !first) {
      first = scale_value(unit, number.value);
    }
    if (first > 0.0) break;
  }
  if (first) set(field, out, *first);
}

void Sensors::report_unreadable(Field field, int error, std::string_view folder,
                                std::string_view file) {
  if (error != ENOENT)
    report_missing(field, sysfs::make_file_failure(source_, error, folder, file));
}

void Sensors::report_missing(Field field, const Failure& failure) {
  field &= remaining_;
  if (field == 0) return;
  remaining_ &= ~field;
  missing_ |= field;
  if (missing_ == requested_) last_failure_ = failure;
  visit_.diagnose(failure, subject::telemetry, field);
}

Result<void> Sensors::finish() {
  if (missing_ == requested_) return std::move(last_failure_);
  if (remaining_ == 0) return {};
  const Failure failure =
      default_failure_
          ? *default_failure_
          : FailureFactory{source_}(Status::unsupported, {"not reported by the driver ",
                                                          visit_.card().driver_name.view()});
  if ((remaining_ | missing_) == requested_) return failure;
  visit_.diagnose(failure, subject::telemetry, remaining_);
  return {};
}

void read_engine_load(Visit& visit, Sensors& sensors, hmn::Telemetry& out) {
  using namespace telemetry_field;
  if (!sensors.wants(gpu_busy_percent | window_ns)) return;
  if (!visit.card().counts_engines) {
    return sensors.report_missing(gpu_busy_percent | window_ns,
                                  make_not_counted_failure(visit.card()));
  }
  const Result<CardLoad> load = visit.load();
  if (!load) return sensors.report_missing(gpu_busy_percent | window_ns, load.failure());
  double busiest = 0;
  for (const EngineLoad& engine : load->engines) busiest = std::max(busiest, engine.percent);
  if (load->is_partial) out.notes |= note::lower_bound;
  // Clients are read one after the other, so their sum may slightly exceed 100 %. One far above it
  // is left to the check of every value.
  constexpr double max_with_error = 110;
  if (busiest <= max_with_error) busiest = std::min(busiest, 100.0);
  if (sensors.wants(gpu_busy_percent)) sensors.set(gpu_busy_percent, out.gpu_busy_percent, busiest);
  if (sensors.wants(window_ns)) sensors.set(window_ns, out.window_ns, load->window_ns);
}

std::optional<std::uint32_t> round_uint32(std::optional<double> value) noexcept {
  if (!value) return std::nullopt;
  if (!(*value >= 0 && *value < UINT32_MAX)) return UINT32_MAX;
  return static_cast<std::uint32_t>(*value + 0.5);
}

std::optional<std::uint32_t> parse_link_speed(std::string_view link_speed) noexcept {
  const std::string_view speed = scan::take_word(link_speed);
  if (!scan::trim(link_speed).starts_with("GT/s")) return std::nullopt;
  for (std::uint32_t i = 0; i < std::size(speeds); ++i) {
    std::string_view known_speed = speeds[i];
    if (speed == known_speed) return i + 1;
    // "5 GT/s" before Linux 5.12
    if (known_speed.ends_with(".0") && speed == known_speed.substr(0, known_speed.size() - 2))
      return i + 1;
  }
  return std::nullopt;
}

std::optional<std::uint32_t> read_generation(std::string_view device_folder, int* error) noexcept {
  std::array<char, 64> buffer;
  const auto line = sysfs::read_line(device_folder, speed_file, buffer);
  if (error != nullptr) *error = line.error;
  return line ? parse_link_speed(line.value) : std::nullopt;
}

std::optional<std::uint32_t> read_width(std::string_view device_folder, int* error) noexcept {
  const auto width = sysfs::read_number(device_folder, width_file);
  if (error != nullptr) *error = width.error;
  if (!width || width.value == 0 || width.value > UINT32_MAX) return std::nullopt;
  return static_cast<std::uint32_t>(width.value);
}

void read_pcie_link(std::string_view device_folder, Sensors& sensors, hmn::Telemetry& out) {
  using namespace telemetry_field;
  int error = 0;
  if (sensors.wants(pcie_generation)) {
    const auto generation = read_generation(device_folder, &error);
    if (generation) {
      sensors.set(pcie_generation, out.pcie_generation, *generation);
    } else if (error == 0) {
      sensors.report_missing(pcie_generation, Status::unsupported,
                             {speed_file, " names no speed that is known"});
    } else {
      sensors.report_unreadable(pcie_generation, error, device_folder, speed_file);
    }
  }
  if (sensors.wants(pcie_width)) {
    const auto width = read_width(device_folder, &error);
    if (width) {
      sensors.set(pcie_width, out.pcie_width, *width);
    } else if (error == 0) {
      sensors.report_missing(pcie_width, Status::unsupported,
                             {width_file, " names no number of lanes"});
    } else {
      sensors.report_unreadable(pcie_width, error, device_folder, width_file);
    }
  }
}

}  // namespace hmn::drm
