// SPDX-License-Identifier: MIT OR Apache-2.0
//
// From the model to the C structs; each in its noun's file.
#pragma once

#include <hypomnesis.h>

#include "core/context.hpp"
#include "core/snapshot.hpp"

namespace hmn::api {

hmn_process_memory to_c(const process_memory& m);
hmn_system_memory to_c(const system_memory& m);
hmn_device to_c(const numbered_device& d);
hmn_pool to_c(std::uint32_t device_index, const dated<pool>& p);
hmn_telemetry to_c(std::uint32_t device_index, const dated<telemetry>& t);
hmn_metric to_c(std::uint32_t device_index, const dated<metric>& m);
hmn_usage to_c(std::uint32_t device_index, const dated<usage>& u);
hmn_diagnostic to_c(const snapshot_diagnostic& d);

// The other way. `usual`: what a collect of 0 stands for.
result<snapshot_request> request_from(const hmn_snapshot_options* options, hmn_flags usual);

}  // namespace hmn::api
