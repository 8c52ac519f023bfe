// SPDX-License-Identifier: MIT OR Apache-2.0
#pragma once

#include "backends/backend.hpp"

namespace hmn::metal {

inline failure fail(status code, const message_text& message, int error = 0) {
  failure why{code, source::metal, {}, message};
  if (error != 0) why.native = {native_domain::error_number, error};
  return why;
}

inline void remark(failure why, std::uint32_t about, std::uint32_t fields, slot number,
                   reading& r) {
  diagnostic d;
  d.why = std::move(why);
  d.about = about;
  d.field = fields;
  d.device = number;
  r.remark(std::move(d));
}

}  // namespace hmn::metal
