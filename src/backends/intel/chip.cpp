// SPDX-License-Identifier: MIT OR Apache-2.0
#include "backends/intel/chip.hpp"

#include <algorithm>
#include <array>

#include "backends/drm/attribute.hpp"
#include "model/scan.hpp"
#include "model/short_text.hpp"
#include "model/sort.hpp"
#include "model/telemetry.hpp"
#include "platform/file.hpp"

namespace hmn::intel {
namespace {

using namespace telemetry_field;

// In the order of `quantity`.
struct kind {
  short_text<8> prefix;
  short_text<12> suffix;
  std::uint32_t fields;
  double unit;
};
constexpr kind kinds[] = {
    {"temp", "_input", temperature | memory_temperature, 1e-3},
    {"fan", "_input", fan_rpm, 1},
    {"energy", "_input", energy | power, 1e-6},
    {"power", "_max", power_limit, 1e-6},
    {"power", "_rated_max", 0, 1e-6},
    {"in", "_input", 0, 1e-3},
};

const kind& of(quantity what) noexcept {
  return kinds[static_cast<std::size_t>(what)];
}

}  // namespace

std::optional<chip_file> parse_chip_file(std::string_view name) noexcept {
  for (std::size_t i = 0; i < std::size(kinds); ++i) {
    const auto& [prefix, suffix, fields, unit] = kinds[i];
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

double unit_of(quantity what) noexcept {
  return of(what).unit;
}

std::uint32_t fields_of(quantity what) noexcept {
  return of(what).fields;
}

chip::chip(const std::string& folder, std::uint32_t fields, refusal refuse) {
  if (folder.empty()) return;
  (void)platform::for_each_entry(folder.c_str(), [&](std::string_view name) {
    const auto file = parse_chip_file(name);
    if (!file) return true;
    const kind& k = of(file->what);
    // Which limit holds depends on where energy is counted.
    const auto needed = k.fields | (file->what == quantity::energy ? power_limit : 0U);
    if (fields != everything && (fields & needed) == 0) return true;
    const auto value = drm::read_signed(folder, name);
    if (!value) {
      refuse(file->what, value.error, name);
      return true;
    }
    std::array<char, 64> buffer;
    const auto label =
        drm::read_line(folder, compose({k.prefix.view(), file->number, "_label"}), buffer);
    all_.push_back({file->what, parse_label(file->what, label.value), file->number, value.value});
    return true;
  });
  sort_stably(all_, [](const auto& a, const auto& b) {
    return a.what != b.what ? a.what < b.what : a.number < b.number;
  });
}

std::optional<double> chip::highest(quantity what, place where) const noexcept {
  std::optional<double> most;
  for (const reading_of_chip& r : all_) {
    if (r.what != what || r.where != where) continue;
    most = std::max(most.value_or(-1e9), static_cast<double>(r.value) * unit_of(what));
  }
  return most;
}

const reading_of_chip* chip::energy() const noexcept {
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
  for (const reading_of_chip& r : all_) {
    if (r.what != which || r.value <= 0) continue;
    const bool is_better = counted != nullptr && r.where == counted->where;
    if (found == nullptr || is_better) found = &r;
  }
  if (found == nullptr) return std::nullopt;
  return static_cast<double>(found->value) * unit_of(which);
}

bool chip::has(quantity what) const noexcept {
  return std::ranges::any_of(all_, [what](const reading_of_chip& r) { return r.what == what; });
}

}  // namespace hmn::intel
