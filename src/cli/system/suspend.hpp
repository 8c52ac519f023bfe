// SPDX-License-Identifier: MIT OR Apache-2.0
//
// Whether the machine was suspended between two readings, whose rate would be wrong.
#pragma once
#include "platform/clock.hpp"

namespace hmn::cli {

using platform::suspended_ns;
using platform::was_suspended;

}  // namespace hmn::cli
