// SPDX-License-Identifier: MIT OR Apache-2.0
#pragma once

#include "source/interface.hpp"

namespace hmn::metal {

inline constexpr failure_of fail{source::metal};

inline void diagnose(const failure& why, std::uint32_t about, std::uint32_t fields, slot number,
                     reading& r) {
  diagnostic d;
  d.why = why;
  d.about = about;
  d.field = fields;
  d.device = number;
  r.diagnose(d);
}

}  // namespace hmn::metal
