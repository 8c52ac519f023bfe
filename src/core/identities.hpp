// SPDX-License-Identifier: MIT OR Apache-2.0
//
// Which device lists are possible: an identifier is that of one device, which keeps it.
#pragma once

#include <vector>

#include "core/answer.hpp"
#include "source/interface.hpp"

namespace hmn {

// Drops from a new list what cannot be, and reports that and what differs from the last one.
void check_identities(std::vector<device>& listed, const source_cache& before, reading& r);

}  // namespace hmn
