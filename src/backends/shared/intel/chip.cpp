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
using drm::unit;

// Rows in the order of `quantity`.
struct kind {
  std::string_view prefix;
  std::string_view suffix;
  unit in;
  FieldSet fields;
};
constexpr kind kinds[] = {
    {"temp", "_input", unit::celsius, temperature_celsius | memory_celsius},
    {"fan", "_input", unit::rpm, fan_rpm},
    {"energy", "_input", unit::joules, energy_joules | power_watts},
    {"power", "_max", unit::watts, power_limit_watts},
    {"power", "_rated_max", unit::watts, 0},
    {"in", "_input", unit::volts, 0},
    {"power", "_cap", unit::watts, power_limit_watts},
};

const kind& of(quantity what) noexcept {
  return kinds[static_cast<std::size_t>(what)];
}

// Whether the card or driver lacks the file.
bool is_missing(int error) noexcept {
  return error == ENOENT || error == EOPNOTSUPP || error == ENODATA;
}

}  // namespace

std::optional<chip_file> parse_chip_file(std::string_view name) noexcept {
  for (std::size_t i = 0; i < std::size(kinds); ++i) {
    const auto& [prefix, suffix, in, fields] = kinds[i];
    if (!name.starts_with(prefix) || !name.ends_with(suffix)) continue;
    if (name.size() <= prefix.size() + suffix.size()) continue;
    const auto digits = name.substr(prefix.size(), name.size() - prefix.size() - suffix.size());
    const auto number = scan::decimal(digits);
    if (number && *number < 1000) {
      return chip_file{static_cast<quantity>(i), static_cast<std::uint32_t>(*number)};
    }
  }
  return std::nullopt;
}

place parse_label(quantity what, std::string_view label) noexcept {
  if (label.empty()) return what == quantity::temperature ? place::package : place::card;
  if (label == "card") return place::card;
  if (label == "pkg") return place::package;
  return label.starts_with("vram") ? place::memory : place::other;
}

double value_of(const reading_of_chip& r) noexcept {
  return drm::in_unit(of(r.what).in, r.value);
}

FieldSet fields_of(quantity what) noexcept {
  return of(what).fields;
}

chip::chip(const std::string& folder, FieldSet fields, refusal refuse) {
  if (folder.empty()) return;
  const int listed = platform::for_each_entry(folder.c_str(), [&](std::string_view name) {
    const auto file = parse_chip_file(name);
    if (!file) return true;
    const kind& k = of(file->what);
    // Power limits depend on where energy is counted.
    const auto needed = k.fields | (file->what == quantity::energy ? power_limit_watts : 0U);
    if (fields != everything && (fields & needed) == 0) return true;
    const auto value = sysfs::read_signed(folder, name);
    if (!value) refuse(file->what, value.error, name);
    if (is_missing(value.error)) return true;
    std::array<char, 64> buffer;
    const std::string label_file = compose({k.prefix, file->number, "_label"});
    const auto label = sysfs::read_line(folder, label_file, buffer);
    const bool is_placed = label || is_missing(label.error);
    if (!is_placed) refuse(file->what, label.error, label_file);
    const place where = is_placed ? parse_label(file->what, label.value) : place::unknown;
    all_.push_back({file->what, where, file->number, value.value, !value});
    return true;
  });
  for (std::size_t i = 0; listed != 0 && i < std::size(kinds); ++i) {
    refuse(static_cast<quantity>(i), listed, ".");
  }
  std::ranges::stable_sort(all_, [](const auto& a, const auto& b) {
    return a.what != b.what ? a.what < b.what : a.number < b.number;
  });
}

bool chip::is_whole(quantity what, place where) const noexcept {
  return std::ranges::none_of(all_, [=](const reading_of_chip& r) {
    return r.what == what && (r.where == place::unknown || (r.where == where && r.has_failed));
  });
}

std::optional<double> chip::highest(quantity what, place where) const noexcept {
  if (!is_whole(what, where)) return std::nullopt;
  std::optional<double> most;
  for (const reading_of_chip& r : all_) {
    if (r.what != what || r.where != where) continue;
    most = std::max(most.value_or(-1e9), value_of(r));
  }
  return most;
}

const reading_of_chip* chip::energy() const noexcept {
  if (!is_whole(quantity::energy, place::card)) return nullptr;
  const reading_of_chip* found = nullptr;
  for (const reading_of_chip& r : all_) {
    if (r.what != quantity::energy || r.where > place::package || r.value <= 0) continue;
    if (found == nullptr || r.where < found->where) found = &r;
  }
  return found;
}

std::optional<double> chip::limit(quantity which) const noexcept {
  const reading_of_chip* const counted = energy();
  const reading_of_chip* found = nullptr;
  bool has_several = false;
  for (const reading_of_chip& r : all_) {
    if (r.what != which) continue;
    if (r.has_failed || r.where == place::unknown) return std::nullopt;
    if (r.value <= 0) continue;
    has_several = has_several || (found != nullptr && found->where != r.where);
    const bool is_better = counted != nullptr && r.where == counted->where;
    if (found == nullptr || is_better) found = &r;
  }
  if (found == nullptr || (has_several && !counts_surely())) return std::nullopt;
  return value_of(*found);
}

std::string_view chip::why_no_limit() const noexcept {
  std::string_view why;
  for (const reading_of_chip& r : all_) {
    if (r.has_failed) continue;
    if (r.what == quantity::limit) return r.value <= 0 ? "the power limit is switched off" : "";
    if (r.what == quantity::burst_limit) {
      why = "the driver reports the limit of bursts only (PL2), and no sustained one (PL1)";
    }
  }
  return why;
}

bool chip::counts_surely() const noexcept {
  return is_whole(quantity::energy, place::card) && is_whole(quantity::energy, place::package);
}

bool chip::does_not_count() const noexcept {
  const auto is_energy = [](const reading_of_chip& r) { return r.what == quantity::energy; };
  return std::ranges::any_of(all_, is_energy) && counts_surely() && energy() == nullptr;
}

}  // namespace hmn::intel
