// SPDX-License-Identifier: MIT OR Apache-2.0
#pragma once

#include <cstdint>
#include <initializer_list>
#include <optional>
#include <string>
#include <string_view>

#include "backends/drm/driver.hpp"
#include "platform/file.hpp"

namespace hmn::drm {

// <device>/hwmon/hwmon<N>: sensors by label, since numbers differ between kernel versions. Reading
// one may wake a sleeping card.

// Folder of the sensor chip with this `name`; any if it is empty. Returns "" if there is none, or
// if `error` is set.
std::string find_hwmon(std::string_view device_folder, std::string_view name, int* error = nullptr);

// Finds the input "<kind><digits>_input" ("temp", "energy", "fan") whose "_label" is `label`; for
// an empty label, the lowest-numbered one without a label file. Returns "temp2"; empty: none.
std::string find_input(std::string_view hwmon, std::string_view kind, std::string_view label);

// Units of files: parts of the library's own.
enum class Unit : std::uint8_t {
  one,
  milli,
  micro,
  duty_of_255,
  percent = one,
  rpm = one,
  celsius = milli,
  volts = milli,
  watts = micro,
  joules = micro,
  megahertz = micro,
};

double scale_value(Unit unit, std::int64_t value) noexcept;

// Reads telemetry files of one card and collects why some have no value: each wanted field is
// filled or refused once, and finish() reports the rest.
class Sensors {
 public:
  using Field = FieldSet;  // telemetry_field bits

  Sensors(Visit& visit, Source source, Field requested)
      : visit_(visit), source_(source), requested_(requested), remaining_(requested) {}

  [[nodiscard]] bool wants(Field field) const noexcept { return (requested_ & field) != 0; }

  // Takes the first file that has a number of this unit, preferably above 0: some drivers fill
  // files that they have no value for.
  void read(std::string_view folder, std::initializer_list<std::string_view> files, Field field,
            Unit unit, std::optional<double>& out);
  template <class T>
  void set(Field field, std::optional<T>& out, T value) {
    out = value;
    remaining_ &= ~field;
    missing_ &= ~field;
  }
  // Reports why a file has no number; finish() reports missing files.
  void report_unreadable(Field field, int error, std::string_view folder, std::string_view file);
  void report_missing(Field field, const Failure& failure);
  void report_missing(Field field, Status code, std::initializer_list<Piece> message) {
    report_missing(field, FailureFactory{source_}(code, message));
  }
  // Sets the reason that finish() gives for the remaining fields.
  void set_default_failure(const Failure& failure) { default_failure_ = failure; }
  // Reports the remaining fields as unsupported.
  Result<void> finish();

 private:
  Visit& visit_;
  Source source_;
  Field requested_;
  Field remaining_;
  Field missing_ = 0;
  Failure last_failure_;
  std::optional<Failure> default_failure_;
};

// Adds the load of the busiest engine, if wanted.
void read_engine_load(Visit& visit, Sensors& sensors, hmn::Telemetry& out);

// Rounds. A value out of range becomes the type's maximum, which the check of every value rejects.
std::optional<std::uint32_t> round_uint32(std::optional<double> value) noexcept;

// Pure. Parses "16.0 GT/s PCIe" as generation 4.
std::optional<std::uint32_t> parse_link_speed(std::string_view link_speed) noexcept;

// Reads <device>/current_link_speed; may wake a sleeping card.
std::optional<std::uint32_t> read_generation(std::string_view device_folder,
                                             int* error = nullptr) noexcept;
// Reads <device>/current_link_width. 0 lanes, which is what a device without a link reports, is
// absent.
std::optional<std::uint32_t> read_width(std::string_view device_folder,
                                        int* error = nullptr) noexcept;

// Adds generation and width to telemetry, if wanted.
void read_pcie_link(std::string_view device_folder, Sensors& sensors, hmn::Telemetry& out);

}  // namespace hmn::drm
