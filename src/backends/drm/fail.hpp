// SPDX-License-Identifier: MIT OR Apache-2.0
#pragma once

#include <string>
#include <utility>

#include "model/failure.hpp"

namespace hmn::drm {

// A failure of this source; `error` is the system's number, or 0.
inline failure fail(status code, std::string message, int error = 0) {
  native_code native;
  if (error != 0) native = {native_domain::error_number, error};
  return {code, source::drm, native, std::move(message)};
}

}  // namespace hmn::drm
