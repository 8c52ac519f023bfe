// SPDX-License-Identifier: MIT OR Apache-2.0
#pragma once

#include <memory>

#include "source/interface.hpp"

namespace hmn {

// Extends `host` with control group limits of device memory (Linux 6.14).
std::unique_ptr<HostSource> make_dmem(std::unique_ptr<HostSource> host);

}  // namespace hmn
