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

double in_unit(Unit u, std::int64_t value) noexcept;

// Reads telemetry files of one card and collects why some have no value: each wanted field is
// filled or refused once, and finish() reports the rest.
class Sensors {
 public:
  using Field = FieldSet;  // telemetry_field bits

  Sensors(Visit& v, Source from, Field wanted)
      : v_(v), from_(from), wanted_(wanted), left_(wanted) {}

  [[nodiscard]] bool wants(Field f) const noexcept { return (wanted_ & f) != 0; }

  // Takes the first file that has a number of this unit, preferably above 0: some drivers fill
  // files that they have no value for.
  void take(std::string_view folder, std::initializer_list<std::string_view> files, Field f,
            Unit in, std::optional<double>& out);
  template <class T>
  void found(Field f, std::optional<T>& out, T value) {
    out = value;
    left_ &= ~f;
    refused_ &= ~f;
  }
  // Reports why a file has no number; finish() reports missing files.
  void refuse_file(Field f, int error, std::string_view folder, std::string_view file);
  void refuse(Field f, const Failure& why);
  void refuse(Field f, Status code, std::initializer_list<Piece> message) {
    refuse(f, FailureOf{from_}(code, message));
  }
  // Sets the reason that finish() gives for the remaining fields.
  void blame(const Failure& why) { blamed_ = why; }
  // Reports the remaining fields as unsupported.
  Result<void> finish();

 private:
  Visit& v_;
  Source from_;
  Field wanted_;
  Field left_;
  Field refused_ = 0;
  Failure last_;
  std::optional<Failure> blamed_;
};

// Adds the load of the busiest engine, if wanted.
void take_load(Visit& v, Sensors& s, hmn::Telemetry& out);

// Rounds. A value out of range becomes the type's maximum, which the check of every value rejects.
std::optional<std::uint32_t> whole(std::optional<double> value) noexcept;

// Pure. Parses "16.0 GT/s PCIe" as generation 4.
std::optional<std::uint32_t> generation_of(std::string_view link_speed) noexcept;

// Reads <device>/current_link_speed; may wake a sleeping card.
std::optional<std::uint32_t> read_generation(std::string_view device_folder,
                                             int* error = nullptr) noexcept;
// Reads <device>/current_link_width. 0 lanes, which is what a device without a link reports, is
// absent.
std::optional<std::uint32_t> read_width(std::string_view device_folder,
                                        int* error = nullptr) noexcept;

// Adds generation and width to telemetry, if wanted.
void take_link(std::string_view device_folder, Sensors& s, hmn::Telemetry& out);

}  // namespace hmn::drm
