// SPDX-License-Identifier: MIT OR Apache-2.0
#include "backends/shared/intel/chip.hpp"

#include <algorithm>
#include <array>
#include <cerrno>

#include "backends/drm/sensors.hpp"
#include "backends/shared/sysfs/attribute.hpp"
#include "model/scan.hpp"
#include "model/telemetry.hpp"
#include "platform/file.hpp"

namespace hmn::intel {
namespace {

using namespace telemetry_field;
using drm::Unit;

// Rows in the order of `Quantity`.
struct Kind {
  std::string_view prefix;
  std::string_view suffix;
  Unit unit;
  FieldSet fields;
};
constexpr Kind kinds[] = {
    {"temp", "_input", Unit::celsius, temperature_celsius | memory_celsius},
    {"fan", "_input", Unit::rpm, fan_rpm},
    {"energy", "_input", Unit::joules, energy_joules | power_watts},
    {"power", "_max", Unit::watts, power_limit_watts},
    {"power", "_rated_max", Unit::watts, 0},
    {"in", "_input", Unit::volts, 0},
    {"power", "_cap", Unit::watts, power_limit_watts},
    {"temp", "_emergency", Unit::celsius, 0},
};

const Kind& find_kind(Quantity quantity) noexcept {
  return kinds[static_cast<std::size_t>(quantity)];
}

// Returns whether the card or driver does not have the file.
bool is_missing(int error) noexcept {
  return error == ENOENT || error == EOPNOTSUPP || error == ENODATA;
}

}  // namespace

bool is_thermal(Quantity quantity) noexcept {
  return quantity == Quantity::temperature || quantity == Quantity::shutdown;
}

std::optional<ChipFile> parse_chip_file(std::string_view name) noexcept {
  for (std::size_t i = 0; i < std::size(kinds); ++i) {
    const auto& [prefix, suffix, unit, fields] = kinds[i];
    if (!name.starts_with(prefix) || !name.ends_with(suffix)) continue;
    if (name.size() <= prefix.size() + suffix.size()) continue;
    const auto digits = name.substr(prefix.size(), name.size() - prefix.size() - suffix.size());
    const auto number = scan::parse_decimal(digits);
    if (number && *number < 1000) {
      return ChipFile{static_cast<Quantity>(i), static_cast<std::uint32_t>(*number)};
    }
  }
  return std::nullopt;
}

SensorLocation parse_label(Quantity quantity, std::string_view label) noexcept {
  if (label.empty()) return is_thermal(quantity) ? SensorLocation::package : SensorLocation::card;
  if (label == "card") return SensorLocation::card;
  if (label == "pkg") return SensorLocation::package;
  return label.starts_with("vram") ? SensorLocation::memory : SensorLocation::other;
}

double convert_value(const ChipReading& reading) noexcept {
  return drm::scale_value(find_kind(reading.quantity).unit, reading.value);
}

FieldSet quantity_fields(Quantity quantity) noexcept {
  return find_kind(quantity).fields;
}

Chip::Chip(const std::string& folder, FieldSet fields, ErrorHandler report_error) {
  if (folder.empty()) return;
  const int list_error = platform::for_each_entry(folder.c_str(), [&](std::string_view name) {
    const auto file = parse_chip_file(name);
    if (!file) return true;
    const Kind& kind = find_kind(file->quantity);
    // Power limits depend on where energy is counted.
    const auto dependent_fields =
        kind.fields | (file->quantity == Quantity::energy ? power_limit_watts : 0U);
    if (fields != everything && (fields & dependent_fields) == 0) return true;
    const auto value = sysfs::read_signed(folder, name);
    if (!value) report_error(file->quantity, value.error, name);
    if (is_missing(value.error)) return true;
    std::array<char, 64> buffer;
    const std::string label_file = compose({kind.prefix, file->number, "_label"});
    const auto label = sysfs::read_line(folder, label_file, buffer);
    const bool has_location = label || is_missing(label.error);
    if (!has_location) report_error(file->quantity, label.error, label_file);
    const SensorLocation location =
        has_location ? parse_label(file->quantity, label.value) : SensorLocation::unknown;
    all_.push_back({file->quantity, location, file->number, value.value, !value});
    return true;
  });
  for (std::size_t i = 0; list_error != 0 && i < std::size(kinds); ++i) {
    report_error(static_cast<Quantity>(i), list_error, ".");
  }
  std::ranges::stable_sort(all_, [](const auto& a, const auto& b) {
    return a.quantity != b.quantity ? a.quantity < b.quantity : a.number < b.number;
  });
}

bool Chip::is_complete(Quantity quantity, SensorLocation location) const noexcept {
  return std::ranges::none_of(all_, [=](const ChipReading& reading) {
    return reading.quantity == quantity && (reading.location == SensorLocation::unknown ||
                                            (reading.location == location && reading.has_failed));
  });
}

std::optional<double> Chip::highest(Quantity quantity, SensorLocation location) const noexcept {
  if (!is_complete(quantity, location)) return std::nullopt;
  std::optional<double> max;
  for (const ChipReading& reading : all_) {
    if (reading.quantity != quantity || reading.location != location) continue;
    max = std::max(max.value_or(-1e9), convert_value(reading));
  }
  return max;
}

const ChipReading* Chip::energy() const noexcept {
  if (!is_complete(Quantity::energy, SensorLocation::card)) return nullptr;
  const ChipReading* best = nullptr;
  for (const ChipReading& reading : all_) {
    if (reading.quantity != Quantity::energy || reading.location > SensorLocation::package ||
        reading.value <= 0)
      continue;
    if (best == nullptr || reading.location < best->location) best = &reading;
  }
  return best;
}

std::optional<double> Chip::limit(Quantity quantity) const noexcept {
  const ChipReading* const energy_reading = energy();
  const ChipReading* best = nullptr;
  bool has_several = false;
  for (const ChipReading& reading : all_) {
    if (reading.quantity != quantity) continue;
    if (reading.has_failed || reading.location == SensorLocation::unknown) return std::nullopt;
    if (reading.value <= 0) continue;
    has_several = has_several || (best != nullptr && best->location != reading.location);
    const bool is_better =
        energy_reading != nullptr && reading.location == energy_reading->location;
    if (best == nullptr || is_better) best = &reading;
  }
  if (best == nullptr || (has_several && !is_energy_complete())) return std::nullopt;
  return convert_value(*best);
}

std::string_view Chip::explain_missing_limit() const noexcept {
  std::string_view reason;
  for (const ChipReading& reading : all_) {
    if (reading.has_failed) continue;
    if (reading.quantity == Quantity::limit)
      return reading.value <= 0 ? "the power limit is switched off" : "";
    if (reading.quantity == Quantity::burst_limit) {
      reason = "the driver reports the limit of bursts only (PL2), and no sustained one (PL1)";
    }
  }
  return reason;
}

bool Chip::is_energy_complete() const noexcept {
  return is_complete(Quantity::energy, SensorLocation::card) &&
         is_complete(Quantity::energy, SensorLocation::package);
}

bool Chip::has_only_zero_energy() const noexcept {
  const auto is_energy = [](const ChipReading& r) { return r.quantity == Quantity::energy; };
  return std::ranges::any_of(all_, is_energy) && is_energy_complete() && energy() == nullptr;
}

}  // namespace hmn::intel
