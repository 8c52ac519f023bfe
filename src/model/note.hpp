// SPDX-License-Identifier: MIT OR Apache-2.0
#pragma once

#include <cstdint>

#include "model/tables.hpp"

namespace hmn {

namespace note {
HMN_NOTES(HMN_CONSTANT)
}  // namespace note

constexpr bool is_stale(std::uint32_t notes) noexcept {
  return (notes & note::stale) != 0;
}

enum class Accounting : std::uint32_t { HMN_ACCOUNTINGS(HMN_ENUMERATOR) };

}  // namespace hmn
