// SPDX-License-Identifier: MIT OR Apache-2.0
//
// The card's own sensor chip: <device>/hwmon/hwmon<N> whose name is the driver's. i915 has others
// ("i915_gt0"), whose energy is in the card's already.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "model/function_ref.hpp"

namespace hmn::intel {

enum class quantity : std::uint8_t { temperature, fan, energy, limit, usual_limit, voltage };
// By its label. What has none is the card's, but for temperatures: those are the package's.
// unknown: it has one that could not be read.
enum class place : std::uint8_t { card, package, memory, other, unknown };

struct reading_of_chip {
  quantity what;
  place where;
  std::uint32_t number = 0;  // in the file's name
  std::int64_t value = 0;    // in the file's unit
  bool has_failed = false;   // there is no value
};

// Pure: "energy2_input"; nothing for files that are not read.
struct chip_file {
  quantity what;
  std::uint32_t number;
};
std::optional<chip_file> parse_chip_file(std::string_view name) noexcept;
place parse_label(quantity what, std::string_view label) noexcept;

// The telemetry_field bits that it tells.
std::uint32_t fields_of(quantity what) noexcept;

class chip {
 public:
  // A file that cannot be read.
  using refusal = function_ref<void(quantity, int error, std::string_view file)>;
  static constexpr std::uint32_t everything = ~std::uint32_t{0};

  // Reads what is needed for the fields; `everything`: also what no field is for.
  chip(const std::string& folder, std::uint32_t fields, refusal refuse);

  [[nodiscard]] const std::vector<reading_of_chip>& all() const noexcept { return all_; }
  // Whether each sensor of the place told its value: without one, neither the highest of them nor
  // one in the place of another can be known.
  [[nodiscard]] bool is_whole(quantity what, place where) const noexcept;
  // The highest of them.
  [[nodiscard]] std::optional<double> highest(quantity what, place where) const noexcept;
  // Where energy is counted: of the card, else of the package. A counter at 0 does not count.
  [[nodiscard]] const reading_of_chip* energy() const noexcept;
  // Of the same place as energy, else of any. 0 is a limit that is switched off.
  [[nodiscard]] std::optional<double> limit(quantity which) const noexcept;
  // There are counters of energy, and they stand at 0.
  [[nodiscard]] bool does_not_count() const noexcept;

 private:
  [[nodiscard]] bool counts_surely() const noexcept;

  std::vector<reading_of_chip> all_;
};

// To Celsius, rpm, joules, watts, volts.
double unit_of(quantity what) noexcept;

}  // namespace hmn::intel
