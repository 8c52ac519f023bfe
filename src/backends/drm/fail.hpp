// SPDX-License-Identifier: MIT OR Apache-2.0
#pragma once

#include <string>
#include <utility>

#include "backends/drm/driver.hpp"
#include "model/compose.hpp"
#include "model/failure.hpp"

namespace hmn::drm {

inline constexpr failure_of fail{source::drm};

inline failure why_not_counted(const card& c) {
  return fail(status::unsupported, {"engines are not counted: ", c.folder.view(),
                                    "/profiling is 0; root may switch it on"});
}

inline failure needs_two_readings(const card& c) {
  return {status::unsupported,
          c.by->from(),
          {},
          "load is the difference of two readings: the next one may tell it"};
}

}  // namespace hmn::drm
