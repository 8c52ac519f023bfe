// SPDX-License-Identifier: MIT OR Apache-2.0
#pragma once

#include "core/reply.hpp"

namespace hmn {

// Carries out a plan on a source: updates the parts of `out` that it asks for, keeps the others.
void perform(device_source& from, const plan& p, reply& out, reading& r);

}  // namespace hmn
