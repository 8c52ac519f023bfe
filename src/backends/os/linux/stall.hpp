// SPDX-License-Identifier: MIT OR Apache-2.0
#pragma once

#include <optional>
#include <string_view>

namespace hmn::os {

// The share of the last 10 s in which at least one task waited for memory, in percent: "avg10" of
// the line "some" of /proc/pressure/memory (Linux 4.20, Documentation/accounting/psi.rst).
std::optional<double> parse_stall(std::string_view text) noexcept;

}  // namespace hmn::os
