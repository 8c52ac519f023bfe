// SPDX-License-Identifier: MIT OR Apache-2.0
//
// AMD's two management commands: one source each, and one parser for the output of both.
#pragma once

#include <memory>

#include "backends/backend.hpp"

namespace hmn {

std::unique_ptr<device_source> make_rocm_smi(const settings& s);
std::unique_ptr<device_source> make_amd_smi(const settings& s);

}  // namespace hmn
