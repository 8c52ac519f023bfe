// SPDX-License-Identifier: MIT OR Apache-2.0
//
// The card's own sensor chip: <device>/hwmon/hwmon<N> with the driver's name. i915 has others
// ("i915_gt0"), whose energy the card's includes.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "model/function_ref.hpp"
#include "model/tables.hpp"

namespace hmn::intel {

enum class Quantity : std::uint8_t {
  temperature,
  fan,
  energy,
  limit,  // sustained (PL1)
  usual_limit,
  voltage,
  burst_limit,  // for milliseconds (PL2): not reported
};
// Where a sensor is, by its label. An input without one is the card's, except for temperatures,
// which are the package's. unknown: the label was unreadable.
enum class Place : std::uint8_t { card, package, memory, other, unknown };

struct ReadingOfChip {
  Quantity what;
  Place where;
  std::uint32_t number = 0;  // from the file name
  std::int64_t value = 0;    // in the unit of the file
  bool has_failed = false;   // unreadable
};

// Pure. Parses "energy2_input"; returns nothing for a file that is not used.
struct ChipFile {
  Quantity what;
  std::uint32_t number;
};
std::optional<ChipFile> parse_chip_file(std::string_view name) noexcept;
Place parse_label(Quantity what, std::string_view label) noexcept;

// Returns the telemetry_field bits that depend on the quantity.
FieldSet fields_of(Quantity what) noexcept;

class Chip {
 public:
  // Receives the error of an unreadable file.
  using Refusal = FunctionRef<void(Quantity, int error, std::string_view file)>;
  static constexpr FieldSet everything = ~FieldSet{0};

  // Reads the files that the fields need; `everything`: also those that no field needs.
  Chip(const std::string& folder, FieldSet fields, Refusal refuse);

  [[nodiscard]] const std::vector<ReadingOfChip>& all() const noexcept { return all_; }
  // Whether every sensor of the place was readable. If not, its maximum is unknown, and so is which
  // of several places to use.
  [[nodiscard]] bool is_whole(Quantity what, Place where) const noexcept;
  // Maximum of the sensors of a place.
  [[nodiscard]] std::optional<double> highest(Quantity what, Place where) const noexcept;
  // The energy counter of the card, else of the package. A counter at 0 is ignored.
  [[nodiscard]] const ReadingOfChip* energy() const noexcept;
  // The limit of the place whose energy counts, else of any. 0: disabled.
  [[nodiscard]] std::optional<double> limit(Quantity which) const noexcept;
  // Why there is no sustained limit; "": the files do not show a reason.
  [[nodiscard]] std::string_view why_no_limit() const noexcept;
  // Whether there are energy counters, all of them at 0.
  [[nodiscard]] bool does_not_count() const noexcept;

 private:
  [[nodiscard]] bool counts_surely() const noexcept;

  std::vector<ReadingOfChip> all_;
};

// Value in Celsius, RPM, joules, watts, volts.
double value_of(const ReadingOfChip& r) noexcept;

}  // namespace hmn::intel
