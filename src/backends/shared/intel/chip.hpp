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
  default_limit,
  voltage,
  burst_limit,  // for milliseconds (PL2): not reported
  shutdown,     // temperature at which the card shuts down (xe, Linux 7.0)
};
// Location of a sensor, from its label. An input without a label is the card's, except for
// temperatures, which are the package's. unknown: the label was unreadable.
enum class SensorLocation : std::uint8_t { card, package, memory, other, unknown };

struct ChipReading {
  Quantity quantity;
  SensorLocation location;
  std::uint32_t number = 0;  // from the file name
  std::int64_t value = 0;    // in the unit of the file
  bool has_failed = false;   // unreadable
};

// Pure. Parses "energy2_input"; returns nothing for a file that is not used.
struct ChipFile {
  Quantity quantity;
  std::uint32_t number;
};
std::optional<ChipFile> parse_chip_file(std::string_view name) noexcept;
SensorLocation parse_label(Quantity quantity, std::string_view label) noexcept;

// Returns whether it is a temperature, of which a location may have several.
bool is_thermal(Quantity quantity) noexcept;

// Returns the telemetry_field bits that depend on the quantity.
FieldSet quantity_fields(Quantity quantity) noexcept;

// All readings of one card's sensor chip, so that telemetry and metrics choose among the same
// sensors.
class Chip {
 public:
  // Receives the error of an unreadable file.
  using ErrorHandler = FunctionRef<void(Quantity, int error, std::string_view file)>;
  static constexpr FieldSet everything = ~FieldSet{0};

  // Reads the files that the fields need; `everything`: all files, even those that no field needs.
  Chip(const std::string& folder, FieldSet fields, ErrorHandler report_error);

  [[nodiscard]] const std::vector<ChipReading>& all() const noexcept { return all_; }
  // Returns whether every sensor of the location was readable. If not, its maximum is unknown, and
  // so is which location to use.
  [[nodiscard]] bool is_complete(Quantity quantity, SensorLocation location) const noexcept;
  // Maximum of the sensors of a location.
  [[nodiscard]] std::optional<double> highest(Quantity quantity,
                                              SensorLocation location) const noexcept;
  // The energy counter of the card, else of the package. A counter at 0 is ignored.
  [[nodiscard]] const ChipReading* energy() const noexcept;
  // The limit of the location whose energy counter is used, else any. 0: disabled.
  [[nodiscard]] std::optional<double> limit(Quantity quantity) const noexcept;
  // Explains why there is no sustained limit; "": the files show no reason.
  [[nodiscard]] std::string_view explain_missing_limit() const noexcept;
  // Returns whether there are energy counters, but all are 0.
  [[nodiscard]] bool has_only_zero_energy() const noexcept;

 private:
  [[nodiscard]] bool is_energy_complete() const noexcept;

  std::vector<ChipReading> all_;
};

// Value in Celsius, RPM, joules, watts, volts.
double convert_value(const ChipReading& reading) noexcept;

}  // namespace hmn::intel
