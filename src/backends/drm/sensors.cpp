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
constexpr Scale scales[] = {as_is, from_milli, from_micro, from_duty};

// Parses the number in "temp2_input".
std::optional<std::uint32_t> number_of(std::string_view file, std::string_view kind) {
  constexpr std::string_view suffix = "_input";
  if (!file.starts_with(kind) || !file.ends_with(suffix)) return std::nullopt;
  if (file.size() < kind.size() + suffix.size()) return std::nullopt;
  file.remove_prefix(kind.size());
  file.remove_suffix(suffix.size());
  return scan::number<std::uint32_t>(file);
}

bool has_label(std::string_view hwmon, std::string_view input, std::string_view label) {
  std::array<char, 64> buffer;
  const auto reported = sysfs::read_line(hwmon, compose({input, "_label"}), buffer);
  return reported ? !label.empty() && reported.value == label : label.empty();
}

constexpr const char* speed_file = "current_link_speed";
constexpr const char* width_file = "current_link_width";
// In the order of generations, the first of which is 1.
constexpr std::string_view speeds[] = {"2.5", "5.0", "8.0", "16.0", "32.0", "64.0"};

}  // namespace

double in_unit(Unit u, std::int64_t value) noexcept {
  return scales[static_cast<std::size_t>(u)].of(static_cast<double>(value));
}

std::string find_hwmon(std::string_view device_folder, std::string_view name, int* error) {
  const std::string folder = compose({device_folder, "/hwmon"});
  std::string found;
  int failed = 0;
  const int listed = platform::for_each_entry(folder.c_str(), [&](std::string_view entry) {
    if (!entry.starts_with("hwmon")) return true;
    std::string candidate = compose({folder, "/", entry});
    std::array<char, 64> buffer;
    const auto reported = sysfs::read_line(candidate, "name", buffer);
    if (!reported && reported.error != ENOENT) failed = reported.error;
    if (!name.empty() && (!reported || reported.value != name)) return true;
    found = std::move(candidate);
    return false;
  });
  if (listed != 0 && listed != ENOENT) failed = listed;
  if (error != nullptr) *error = found.empty() ? failed : 0;
  return found;
}

std::string find_input(std::string_view hwmon, std::string_view kind, std::string_view label) {
  std::optional<std::uint32_t> lowest;
  (void)platform::for_each_entry(std::string(hwmon).c_str(), [&](std::string_view file) {
    const auto number = number_of(file, kind);
    if (!number || (lowest && *lowest < *number)) return true;
    if (has_label(hwmon, compose({kind, *number}), label)) lowest = number;
    return true;
  });
  return lowest ? compose({kind, *lowest}) : std::string();
}

void Sensors::take(std::string_view folder, std::initializer_list<std::string_view> files, Field f,
                   Unit in, std::optional<double>& out) {
  if (!wants(f) || folder.empty()) return;
  std::optional<double> first;
  for (const std::string_view file : files) {
    const auto read = sysfs::read_signed(folder, file);
    if (!read) {
      refuse_file(f, read.error, folder, file);
    } else if (read.value > 0 || !first) {
      first = in_unit(in, read.value);
    }
    if (first > 0.0) break;
  }
  if (first) found(f, out, *first);
}

void Sensors::refuse_file(Field f, int error, std::string_view folder, std::string_view file) {
  if (error != ENOENT) refuse(f, sysfs::unreadable(from_, error, folder, file));
}

void Sensors::refuse(Field f, const Failure& why) {
  f &= left_;
  if (f == 0) return;
  left_ &= ~f;
  refused_ |= f;
  if (refused_ == wanted_) last_ = why;
  v_.diagnose(why, subject::telemetry, f);
}

Result<void> Sensors::finish() {
  if (refused_ == wanted_) return std::move(last_);
  if (left_ == 0) return {};
  const Failure why =
      blamed_ ? *blamed_
              : FailureOf{from_}(Status::unsupported,
                                 {"not reported by the driver ", v_.of().driver_name.view()});
  if ((left_ | refused_) == wanted_) return why;
  v_.diagnose(why, subject::telemetry, left_);
  return {};
}

void take_load(Visit& v, Sensors& s, hmn::Telemetry& out) {
  using namespace telemetry_field;
  if (!s.wants(gpu_busy_percent | window_ns)) return;
  if (!v.of().counts_engines) {
    return s.refuse(gpu_busy_percent | window_ns, why_not_counted(v.of()));
  }
  const Result<CardLoad> load = v.load();
  if (!load) return s.refuse(gpu_busy_percent | window_ns, load.why());
  double most = 0;
  for (const EngineLoad& e : load->engines) most = std::max(most, e.percent);
  if (load->is_partial) out.notes |= note::lower_bound;
  // Clients are read one after the other, so their sum may slightly exceed 100 %. One far above it
  // is left to the check of every value.
  constexpr double most_by_error = 110;
  if (most <= most_by_error) most = std::min(most, 100.0);
  if (s.wants(gpu_busy_percent)) s.found(gpu_busy_percent, out.gpu_busy_percent, most);
  if (s.wants(window_ns)) s.found(window_ns, out.window_ns, load->window_ns);
}

std::optional<std::uint32_t> whole(std::optional<double> value) noexcept {
  if (!value) return std::nullopt;
  if (!(*value >= 0 && *value < UINT32_MAX)) return UINT32_MAX;
  return static_cast<std::uint32_t>(*value + 0.5);
}

std::optional<std::uint32_t> generation_of(std::string_view link_speed) noexcept {
  const std::string_view speed = scan::take_word(link_speed);
  if (!scan::trim(link_speed).starts_with("GT/s")) return std::nullopt;
  for (std::uint32_t i = 0; i < std::size(speeds); ++i) {
    std::string_view known = speeds[i];
    if (speed == known) return i + 1;
    // "5 GT/s" before Linux 5.12
    if (known.ends_with(".0") && speed == known.substr(0, known.size() - 2)) return i + 1;
  }
  return std::nullopt;
}

std::optional<std::uint32_t> read_generation(std::string_view device_folder, int* error) noexcept {
  std::array<char, 64> buffer;
  const auto line = sysfs::read_line(device_folder, speed_file, buffer);
  if (error != nullptr) *error = line.error;
  return line ? generation_of(line.value) : std::nullopt;
}

std::optional<std::uint32_t> read_width(std::string_view device_folder, int* error) noexcept {
  const auto width = sysfs::read_number(device_folder, width_file);
  if (error != nullptr) *error = width.error;
  if (!width || width.value == 0 || width.value > UINT32_MAX) return std::nullopt;
  return static_cast<std::uint32_t>(width.value);
}

void take_link(std::string_view device_folder, Sensors& s, hmn::Telemetry& out) {
  using namespace telemetry_field;
  int error = 0;
  if (s.wants(pcie_generation)) {
    const auto generation = read_generation(device_folder, &error);
    if (generation) {
      s.found(pcie_generation, out.pcie_generation, *generation);
    } else if (error == 0) {
      s.refuse(pcie_generation, Status::unsupported, {speed_file, " names no speed that is known"});
    } else {
      s.refuse_file(pcie_generation, error, device_folder, speed_file);
    }
  }
  if (s.wants(pcie_width)) {
    const auto width = read_width(device_folder, &error);
    if (width) {
      s.found(pcie_width, out.pcie_width, *width);
    } else if (error == 0) {
      s.refuse(pcie_width, Status::unsupported, {width_file, " names no number of lanes"});
    } else {
      s.refuse_file(pcie_width, error, device_folder, width_file);
    }
  }
}

}  // namespace hmn::drm
