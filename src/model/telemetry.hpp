// SPDX-License-Identifier: MIT OR Apache-2.0
#pragma once

#include <cstdint>
#include <optional>

#include "model/failure.hpp"

namespace hmn {

namespace throttle {
HMN_THROTTLES(HMN_CONSTANT)
}  // namespace throttle

// Load, temperature and power of a device.
struct Telemetry {
  HMN_TELEMETRY_FIELDS(HMN_MEMBER)
};

namespace telemetry_field {
HMN_TELEMETRY_FIELDS(HMN_FIELD_BIT)
inline constexpr FieldSet all = 0 HMN_TELEMETRY_FIELDS(HMN_OR_BIT);
}  // namespace telemetry_field

}  // namespace hmn
