// SPDX-License-Identifier: MIT OR Apache-2.0
#pragma once

#include "core/answer.hpp"
#include "model/function_ref.hpp"

namespace hmn {

// Callback after each step: nullptr for the device list, then each device.
using progress = function_ref<void(device_answer* done)>;

// Carries out a plan on a source: updates the requested parts of `out` and keeps the others.
// Returns whether to close the source when idle: one of its devices could suspend, or it failed in
// between.
bool query(device_source& from, const plan& p, source_answer& out, reading& r, progress done);

}  // namespace hmn
