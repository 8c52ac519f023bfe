// SPDX-License-Identifier: MIT OR Apache-2.0
#pragma once

#include <cstdint>
#include <span>

#include "model/short_text.hpp"

namespace hmn {

struct named_field {
  std::uint32_t bit;
  short_text<32> words;  // "": part of another value, as a window is
};

// Returns the fields that diagnostics of a subject (HMN_COLLECT_*) are about, with words for
// people.
std::span<const named_field> named_fields(std::uint32_t subject_bit) noexcept;

}  // namespace hmn
