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

// Rows in the order of `quantity`.
struct Kind {
  std::string_view prefix;
  std::string_view suffix;
  Unit in;
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
};

const Kind& of(Quantity what) noexcept {
  return kinds[static_cast<std::size_t>(what)];
}

// Whether the card or driver lacks the file.
bool is_missing(int error) noexcept {
  return error == ENOENT || error == EOPNOTSUPP || error == ENODATA;
}

}  // namespace

std::optional<ChipFile> parse_chip_file(std::string_view name) noexcept {
  for (std::size_t i = 0; i < std::size(kinds); ++i) {
    const auto& [prefix, suffix, in, fields] = kinds[i];
    if (!name.starts_with(prefix) || !name.ends_with(suffix)) continue;
    if (name.size() <= prefix.size() + suffix.size()) continue;
    const auto digits = name.substr(prefix.size(), name.size() - prefix.size() - suffix.size());
    const auto number = scan::decimal(digits);
    if (number && *number < 1000) {
      return ChipFile{static_cast<Quantity>(i), static_cast<std::uint32_t>(*number)};
    }
  }
  return std::nullopt;
}

Place parse_label(Quantity what, std::string_view label) noexcept {
  if (label.empty()) return what == Quantity::temperature ? Place::package : Place::card;
  if (label == "card") return Place::card;
  if (label == "pkg") return Place::package;
  return label.starts_with("vram") ? Place::memory : Place::other;
}

double value_of(const ReadingOfChip& r) noexcept {
  return drm::in_unit(of(r.what).in, r.value);
}

FieldSet fields_of(Quantity what) noexcept {
  return of(what).fields;
}

Chip::Chip(const std::string& folder, FieldSet fields, Refusal refuse) {
  if (folder.empty()) return;
  const int listed = platform::for_each_entry(folder.c_str(), [&](std::string_view name) {
    const auto file = parse_chip_file(name);
    if (!file) return true;
    const Kind& k = of(file->what);
    // Power limits depend on where energy is counted.
    const auto needed = k.fields | (file->what == Quantity::energy ? power_limit_watts : 0U);
    if (fields != everything && (fields & needed) == 0) return true;
    const auto value = sysfs::read_signed(folder, name);
    if (!value) refuse(file->what, value.error, name);
    if (is_missing(value.error)) return true;
    std::array<char, 64> buffer;
    const std::string label_file = compose({k.prefix, file->number, "_label"});
    const auto label = sysfs::read_line(folder, label_file, buffer);
    const bool is_placed = label || is_missing(label.error);
    if (!is_placed) refuse(file->what, label.error, label_file);
    const Place where = is_placed ? parse_label(file->what, label.value) : Place::unknown;
    all_.push_back({file->what, where, file->number, value.value, !value});
    return true;
  });
  for (std::size_t i = 0; listed != 0 && i < std::size(kinds); ++i) {
    refuse(static_cast<Quantity>(i), listed, ".");
  }
  std::ranges::stable_sort(all_, [](const auto& a, const auto& b) {
    return a.what != b.what ? a.what < b.what : a.number < b.number;
  });
}

bool Chip::is_whole(Quantity what, Place where) const noexcept {
  return std::ranges::none_of(all_, [=](const ReadingOfChip& r) {
    return r.what == what && (r.where == Place::unknown || (r.where == where && r.has_failed));
  });
}

std::optional<double> Chip::highest(Quantity what, Place where) const noexcept {
  if (!is_whole(what, where)) return std::nullopt;
  std::optional<double> most;
  for (const ReadingOfChip& r : all_) {
    if (r.what != what || r.where != where) continue;
    most = std::max(most.value_or(-1e9), value_of(r));
  }
  return most;
}

const ReadingOfChip* Chip::energy() const noexcept {
  if (!is_whole(Quantity::energy, Place::card)) return nullptr;
  const ReadingOfChip* found = nullptr;
  for (const ReadingOfChip& r : all_) {
    if (r.what != Quantity::energy || r.where > Place::package || r.value <= 0) continue;
    if (found == nullptr || r.where < found->where) found = &r;
  }
  return found;
}

std::optional<double> Chip::limit(Quantity which) const noexcept {
  const ReadingOfChip* const counted = energy();
  const ReadingOfChip* found = nullptr;
  bool has_several = false;
  for (const ReadingOfChip& r : all_) {
    if (r.what != which) continue;
    if (r.has_failed || r.where == Place::unknown) return std::nullopt;
    if (r.value <= 0) continue;
    has_several = has_several || (found != nullptr && found->where != r.where);
    const bool is_better = counted != nullptr && r.where == counted->where;
    if (found == nullptr || is_better) found = &r;
  }
  if (found == nullptr || (has_several && !counts_surely())) return std::nullopt;
  return value_of(*found);
}

std::string_view Chip::why_no_limit() const noexcept {
  std::string_view why;
  for (const ReadingOfChip& r : all_) {
    if (r.has_failed) continue;
    if (r.what == Quantity::limit) return r.value <= 0 ? "the power limit is switched off" : "";
    if (r.what == Quantity::burst_limit) {
      why = "the driver reports the limit of bursts only (PL2), and no sustained one (PL1)";
    }
  }
  return why;
}

bool Chip::counts_surely() const noexcept {
  return is_whole(Quantity::energy, Place::card) && is_whole(Quantity::energy, Place::package);
}

bool Chip::does_not_count() const noexcept {
  const auto is_energy = [](const ReadingOfChip& r) { return r.what == Quantity::energy; };
  return std::ranges::any_of(all_, is_energy) && counts_surely() && energy() == nullptr;
}

}  // namespace hmn::intel
