// SPDX-License-Identifier: MIT OR Apache-2.0
#pragma once

#include <memory>

#include "source/interface.hpp"

namespace hmn {

std::unique_ptr<HostSource> make_os(const Settings& settings);

}  // namespace hmn
