// SPDX-License-Identifier: MIT OR Apache-2.0
#pragma once

#include <cstdint>
#include <initializer_list>
#include <optional>
#include <string>
#include <string_view>
#include <utility>

#include "backends/drm/driver.hpp"
#include "platform/errno_or.hpp"

namespace hmn::drm {

// <device>/hwmon/hwmon<N>: sensors by their labels, since numbers moved between kernel versions.
// Reading one may wake a sleeping card.

// The folder of the sensor chip that calls itself `name`; any when it is empty. Empty: none, or
// `error` is why it cannot be told.
std::string find_hwmon(std::string_view device_folder, std::string_view name, int* error = nullptr);

// Of the inputs "<kind><digits>_input" ("temp", "energy", "fan") the one whose "_label" is `label`;
// with an empty label the one with the lowest number that has no label at all. "temp2"; empty:
// none.
std::string find_input(std::string_view hwmon, std::string_view kind, std::string_view label);

// The files of one card that tell telemetry, and what could not be read of them: each wanted field
// is found or refused once, and finish() remarks the rest.
class sensors {
 public:
  using field = std::uint32_t;  // telemetry_field bits

  sensors(visit& v, source from, field wanted)
      : v_(v), from_(from), wanted_(wanted), left_(wanted) {}

  [[nodiscard]] bool wants(field f) const noexcept { return (wanted_ & f) != 0; }

  // What a file's number is worth, and the bounds outside of which it is no reading.
  struct scale {
    double unit;
    double least = -1e18;
    double most = 1e18;

    [[nodiscard]] std::optional<double> of(std::int64_t number) const noexcept {
      const double value = static_cast<double>(number) * unit;
      return value >= least && value <= most ? std::optional(value) : std::nullopt;
    }
  };
  // From the first of the files that gives a number.
  void take(std::string_view folder, std::initializer_list<std::string_view> files, field f,
            const scale& as, std::optional<double>& out);
  template <class T>
  void found(field f, std::optional<T>& out, T value) {
    out = value;
    left_ &= ~f;
    refused_ &= ~f;
  }
  // Why a file gave no number; that it is not there is left to finish().
  void refuse_file(field f, int error, std::string_view folder, std::string_view file);
  void refuse(field f, failure why);
  // Why none of the rest may have been found.
  void blame(failure why) { blamed_ = std::move(why); }
  // The rest is not told at all.
  result<void> finish();

 private:
  visit& v_;
  source from_;
  field wanted_;
  field left_;
  field refused_ = 0;
  failure last_;
  std::optional<failure> blamed_;
};

std::optional<std::uint32_t> whole(std::optional<double> value) noexcept;

}  // namespace hmn::drm
