// SPDX-License-Identifier: MIT OR Apache-2.0
#pragma once

#include <memory>

#include "source/interface.hpp"

namespace hmn {

std::unique_ptr<host_source> make_os(const settings& s);

}  // namespace hmn
