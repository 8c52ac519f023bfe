// SPDX-License-Identifier: MIT OR Apache-2.0
#pragma once

#include "core/answer.hpp"
#include "model/function_ref.hpp"

namespace hmn {

// Callback after each step: nullptr for the device list, then each device.
using Progress = FunctionRef<void(DeviceCache* done)>;

// Drop implausible values from an answer (model/plausible.hpp), each with a diagnostic. Fail if
// nothing is left. `about`: self or processes. `most`: limit of the main pool's total.
Result<void> keep_plausible(Pools& all, Slot device, Reading& r,
                            std::optional<std::uint64_t> most = {});
// `seen`: energy counters read before.
Result<void> keep_plausible(Telemetry& t, Slot device, Reading& r, EnergyHistory* seen = nullptr);
Result<void> keep_plausible(Usage& row, const Device& of, std::uint32_t about, Reading& r);
void keep_plausible(std::vector<Metric>& all, Slot device, Reading& r,
                    EnergyHistory* seen = nullptr);

// Carries out a plan on a source: updates the requested parts of `out` and keeps the others.
// Returns whether to close the source when idle: one of its devices could suspend, or it failed in
// between.
bool query(DeviceSource& from, const Plan& p, SourceCache& out, Reading& r, Progress done);

}  // namespace hmn
