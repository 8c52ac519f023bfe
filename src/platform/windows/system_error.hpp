// SPDX-License-Identifier: MIT OR Apache-2.0
#pragma once

namespace hmn::platform {

// What the services of this folder answer for a number of GetLastError; EIO for one without a
// counterpart.
int errno_of(unsigned long error) noexcept;
int last_errno() noexcept;

}  // namespace hmn::platform
