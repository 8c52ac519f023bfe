// SPDX-License-Identifier: MIT OR Apache-2.0
//
// Words of the kernel's runtime power management. Pure.
#pragma once

#include <cstdint>
#include <string_view>

namespace hmn::idle {

// What power/control holds.
bool says_may_sleep(std::string_view control) noexcept;
// What power/autosuspend_delay_ms holds: from a device's last use to its suspension. 0 where none
// is told; a negative one is none.
std::uint64_t delay_ns(std::string_view autosuspend_delay_ms) noexcept;

}  // namespace hmn::idle
