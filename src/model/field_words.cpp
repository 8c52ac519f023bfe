// SPDX-License-Identifier: MIT OR Apache-2.0
#include "model/field_words.hpp"

#include "model/tables.hpp"

namespace hmn {

std::span<const named_field> named_fields(std::uint32_t subject_bit) noexcept {
#define HMN_NAMED(member, c_member, bit, type, unit, words) {bit, words},
  static constexpr named_field devices[] = {HMN_DEVICE_FIELDS(HMN_NAMED)};
  static constexpr named_field pools[] = {HMN_POOL_FIELDS(HMN_NAMED)};
  static constexpr named_field telemetry[] = {HMN_TELEMETRY_FIELDS(HMN_NAMED)};
#undef HMN_NAMED
  switch (subject_bit) {
    case HMN_COLLECT_DEVICES:
      return devices;
    case HMN_COLLECT_POOLS:
      return pools;
    case HMN_COLLECT_TELEMETRY:
      return telemetry;
    default:
      return {};
  }
}

}  // namespace hmn
