// SPDX-License-Identifier: MIT OR Apache-2.0
#pragma once

#include "core/answer.hpp"
#include "model/function_ref.hpp"

namespace hmn {

// Callback after each step: nullptr for the device list, then each device.
using progress = function_ref<void(device_cache* done)>;

// Drop implausible values from an answer (model/plausible.hpp), each with a diagnostic. Fail if
// nothing is left. `about`: self or processes. `most`: limit of the main pool's total.
result<void> keep_plausible(pools& all, slot device, reading& r,
                            std::optional<std::uint64_t> most = {});
// `seen`: energy counters read before.
result<void> keep_plausible(telemetry& t, slot device, reading& r, energy_history* seen = nullptr);
result<void> keep_plausible(usage& row, const device& of, std::uint32_t about, reading& r);
void keep_plausible(std::vector<metric>& all, slot device, reading& r,
                    energy_history* seen = nullptr);

// Carries out a plan on a source: updates the requested parts of `out` and keeps the others.
// Returns whether to close the source when idle: one of its devices could suspend, or it failed in
// between.
bool query(device_source& from, const plan& p, source_cache& out, reading& r, progress done);

}  // namespace hmn
