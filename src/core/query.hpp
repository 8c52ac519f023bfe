// SPDX-License-Identifier: MIT OR Apache-2.0
#pragma once

#include "core/answer.hpp"
#include "model/function_ref.hpp"

namespace hmn {

// Callback after each step: nullptr for the device list, then each device.
using ProgressCallback = FunctionRef<void(DeviceCache* device)>;

// Drop implausible values from an answer (model/plausible.hpp), each with a diagnostic. Fail if
// nothing is left. `subject`: self or processes. `max_total`: limit of the main pool's total.
Result<void> keep_plausible(PoolList& pools, Slot slot, Reading& reading,
                            std::optional<std::uint64_t> max_total = {});
// `history`: energy counters read before.
Result<void> keep_plausible(Telemetry& telemetry, Slot slot, Reading& reading,
                            EnergyHistory* history = nullptr);
Result<void> keep_plausible(Usage& row, const Device& device, std::uint32_t subject,
                            Reading& reading);
void keep_plausible(std::vector<Metric>& metrics, Slot slot, Reading& reading,
                    EnergyHistory* history = nullptr);

// Carries out a plan on a source: updates the requested parts of `cache` and keeps the others.
// Returns whether to close the source when idle: one of its devices could suspend, or it failed in
// between.
bool query(DeviceSource& source, const Plan& plan, SourceCache& cache, Reading& reading,
           ProgressCallback report_progress);

}  // namespace hmn
