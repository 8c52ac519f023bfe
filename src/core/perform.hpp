// SPDX-License-Identifier: MIT OR Apache-2.0
#pragma once

#include "core/reply.hpp"
#include "model/function_ref.hpp"

namespace hmn {

// Hears of what is done: of the list (nullptr), then of each device.
using progress = function_ref<void(device_reply* done)>;

// Carries out a plan on a source: updates the parts of `out` that it asks for, keeps the others.
void perform(device_source& from, const plan& p, reply& out, reading& r, progress heard);

}  // namespace hmn
